"""Draws experiments/results/m87/m87.png from four runs of examples/m87.yaml (python3-pil):
python3 scripts/m87_picture.py OUT.png "5 April 2017=RUN" "6 April=RUN" ...
The pictures are those of the runs' reports: above the mean of the aligned samples, below their SD, each on a scale of its own."""
import base64
import io
import pathlib
import re
import sys

from PIL import Image, ImageDraw, ImageFont

SIDE, GAP, HEADING = 192, 8, 32


def picture(report, title):
    found = re.search(rf'<img alt="{title}[^>]*src="data:image/png;base64,([^"]+)"', report)
    if not found:
        sys.exit(f"expected a picture of {title} in the report")
    return Image.open(io.BytesIO(base64.b64decode(found[1]))).convert("RGB").resize((SIDE, SIDE), Image.BICUBIC)


def main(out, *days):
    font = ImageFont.truetype("DejaVuSans.ttf", 16)
    sheet = Image.new("RGB", (len(days) * (SIDE + GAP) + GAP, HEADING + 2 * (SIDE + GAP)))
    for column, (name, run) in enumerate(day.rsplit("=", 1) for day in days):
        left = GAP + column * (SIDE + GAP)
        ImageDraw.Draw(sheet).text((left + SIDE / 2, HEADING / 2), name, fill="white", font=font, anchor="mm")
        report = (pathlib.Path(run) / "report.html").read_text()
        for row, title in enumerate(("Mean, samples aligned", "SD, samples aligned")):
            sheet.paste(picture(report, title), (left, HEADING + row * (SIDE + GAP)))
    sheet.save(out, optimize=True)


main(*sys.argv[1:])
