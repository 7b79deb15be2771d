"""Draws experiments/results/m87/m87.png from four runs of examples/m87.yaml:
python3 scripts/m87_picture.py OUT.png "5 April 2017=RUN" "6 April=RUN" ... (python3-numpy, python3-pil)
Above the mean of the heaviest mode, below its SD, each picture on a scale of its own."""
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ENLARGEMENT, GAP, HEADING = 3, 8, 32
# Lightness, chroma and hue of the report's colours (src/report/colormap.cpp).
EMBER = [(0.1, 0.02, 290), (0.274, 0.12, 298), (0.448, 0.17, 345), (0.622, 0.18, 32), (0.796, 0.15, 68), (0.97, 0.04, 95)]
SD = [(0.16, 0.06, 272), (0.32, 0.12, 262), (0.48, 0.1, 225), (0.64, 0.11, 178), (0.8, 0.15, 138), (0.96, 0.13, 108)]


def colours(image, anchors):
    """Bytes [H, W, 3] of an image whose brightest pixel has the last colour: OKLab (B. Ottosson, 2020) to sRGB."""
    lightness, chroma, hue = np.array(anchors).T
    a, b = chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))
    places = np.linspace(0, 1, len(anchors))
    value = np.clip(image / image.max(), 0, 1)
    L, a, b = (np.interp(value, places, axis) for axis in (lightness, a, b))
    l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3
    m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3
    linear = np.stack([4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                       -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                       -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s], axis=2).clip(0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.rint(255 * encoded).astype(np.uint8)


def main(out, *days):
    font = ImageFont.truetype("DejaVuSans.ttf", 16)
    side = 64 * ENLARGEMENT
    sheet = Image.new("RGB", (len(days) * (side + GAP) + GAP, HEADING + 2 * (side + GAP)))
    for column, (name, run) in enumerate(day.rsplit("=", 1) for day in days):
        left = GAP + column * (side + GAP)
        ImageDraw.Draw(sheet).text((left + side / 2, HEADING / 2), name, fill="white", font=font, anchor="mm")
        for row, (file, anchors) in enumerate((("mean", EMBER), ("sd", SD))):
            image = np.load(f"{run}/modes/{file}-1.npy")[0]
            picture = Image.fromarray(colours(image, anchors)).resize((side, side), Image.BICUBIC)
            sheet.paste(picture, (left, HEADING + row * (side + GAP)))
    sheet.save(out, optimize=True)


main(*sys.argv[1:])
