"""The JSON files of scripts/gpu.sh as a table: python3 bench/gpu_report.py FOLDER REPORT.md [FAILED PART...]."""
import datetime
import json
import pathlib
import platform
import sys


def read(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def cell(value, digits=1):
    return "" if value is None else f"{value:.{digits}f}"


def ours(table):
    """A row for each measured thing."""
    for row in table["rows"]:
        share = row.get("share_of_peak")
        yield [
            f"{table['network']}: {row['name']}",
            str(table["batch"]),
            table["compute"],
            cell(row["milliseconds"], 2),
            f"{row['low']:.2f} to {row['high']:.2f}",
            cell(row.get("tflops")),
            "" if share is None else f"{100 * share:.1f} %",
            f"{row['ratio']:.3f}",
            f"{table['memory_bytes'] / 2**30:.1f}",
            row.get("note", ""),
        ]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table_of(head, rows):
    return [line(head), line(["---"] * len(head))] + [line(row) for row in rows]


def precision_lines(table):
    """Posteriors in short and in long numbers."""
    head = ["image", "PSNR, bfloat16", "PSNR, float32", "NLL, bfloat16", "NLL, float32"]
    rows = []
    for row in table["images"]:
        short, long = row["bfloat16"], row["float32"]
        rows.append([str(row["image"])] + [cell(t[key], 3) for key in ("psnr", "nll") for t in (short, long)])
    most = table["largest_difference"]
    return [
        "",
        f"## Posteriors in bfloat16 and in float32: {table['prior']}, {table['chains']} chains (bench/precision.sh)",
        "",
        *table_of(head, rows),
        "",
        f"Largest differences: {most['psnr']:.3f} dB, {most['nll']:.4f} in NLL.",
    ]


def likelihood_lines(table):
    rows = []
    for row in table["benchmarks"]:
        name, images = row["name"].split("/")[1], row["name"].split("/")[-2]
        rows.append([name, images, cell(row["real_time"], 3), cell(row["reference_ms"], 3), cell(row["ratio"], 2)])
    head = ["what", "images", "ms", "reference, ms", "ratio"]
    return ["", "## Likelihood of closures, 284 visibilities (bench/interferometry.cpp)", "", *table_of(head, rows)]


def asked(tables, precision, likelihood):
    """What an H200 was to reach, and what it did: rows of (what, limit, found, holds)."""

    def of(name, row=0, key="milliseconds"):
        table = tables.get(name)
        return table["rows"][row][key] if table else None

    def against(name, own, modes):
        table = tables.get(name)
        times = [t for mode, t in (table or {"milliseconds": {}})["milliseconds"].items() if mode in modes]
        return min(times) / own if times and own else None

    eager = ("fp32", "tf32", "bf16", "bf16_channels_last")
    limits = []
    for batch, most in (50, 50), (10, 11):
        own = of(f"network-{batch}")
        limits.append((f"network, {batch} images, ms", "at most", most, own))
        limits.append((f"its fastest eager mode in PyTorch, {batch} images, times", "at least", 4, against(f"eager-{batch}", own, eager)))
        limits.append((f"torch.compile, {batch} images, times", "at least", 1.4, against(f"eager-{batch}", own, ("compiled",))))
    limits.append(("MRI iteration, 50 images, times the network", "at most", 1.05, of("iteration-50", 1, "ratio")))
    limits.append(("CS 0.3 iteration, 50 images, times the network", "at most", 1.15, of("iteration-50", 3, "ratio")))
    for name in "brain-256", "brain-64":
        found = against(f"torch-{name}", of(f"train-{name}"), ("bf16",))
        limits.append((f"eager training of {name}, times", "at least", 1.5, found))
    if precision:
        most = precision["largest_difference"]
        limits.append(("PSNR of posterior means, bfloat16 and float32, dB apart", "at most", 0.05, most["psnr"]))
        limits.append(("NLL of posteriors, bfloat16 and float32, apart", "at most", 0.01, most["nll"]))
    if likelihood:
        limits.append(("closures' value and gradient, 100 images, ms", "at most", 0.3, likelihood["benchmarks"][0]["real_time"]))
    for what, side, limit, found in limits:
        if found is None:
            yield [what, f"{side} {limit:g}", "", "not measured"]
            continue
        holds = found <= limit if side == "at most" else found >= limit
        yield [what, f"{side} {limit:g}", f"{found:.3g}", "yes" if holds else "**no**"]


def rows_of(path):
    """A table's rows by their first cell; the last one counts."""
    text = path.read_text() if path.exists() else ""
    return {name: rest for name, *rest in (row.split("\t") for row in text.splitlines())}


def measured(folder):
    """Which parts are of which commit, and when."""
    parts = rows_of(folder / "measured.tsv")
    groups = {}
    for name, (commit, when) in parts.items():
        groups.setdefault(commit, []).append((name, when))
    return groups


def main():
    folder, report, failed = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    tables = {path.stem: read(path) for path in sorted(folder.glob("*.json"))}
    precision, likelihood = tables.pop("precision", None), tables.pop("interferometry", None)
    mine = [t for name, t in tables.items() if t and not name.startswith(("eager", "torch"))]
    training = {name.removeprefix("torch-"): t for name, t in tables.items() if t and name.startswith("torch")}
    eager = [t for name, t in tables.items() if t and name.startswith("eager")]
    named = folder / "device.txt"
    device = named.read_text().strip() if named.exists() else "unknown"
    lines = [
        "# GPU report",
        "",
        "Written by `scripts/gpu.sh`. A time and what it is compared with are of the same run on the same machine.",
        "",
        f"- written: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
        f"- device and driver: {device}; CPU: {platform.machine()}",
        *(
            f"- commit {commit}, {min(when for _, when in rows)} to {max(when for _, when in rows)} UTC: "
            + ", ".join(name for name, _ in rows)
            for commit, rows in measured(folder).items()
        ),
        f"- LibTorch: {', '.join(sorted({t['libtorch'] for t in mine})) or 'unknown'}",
    ]
    peaks = [f"{t['peak_tflops']:.0f}" for t in mine]
    if peaks:
        lines.append(f"- peak, measured in each program: {', '.join(peaks)} TFLOP/s ({mine[0]['peak_of']})")
    if failed:
        lines.append(f"- **failed or not run**: {', '.join(failed)}")
    if "H200" in device:
        rows = asked(tables, precision, likelihood)
        lines += ["", "## What was asked of an H200", ""] + table_of(["what", "asked", "found", "holds"], list(rows))
    checks = rows_of(folder / "checks.tsv")
    if checks:
        lines += ["", "## Checks", ""]
        lines += table_of(["what", "commit", "result", "in its own words"], [[name, *rest] for name, rest in checks.items()])
    head = ["what", "images", "type", "ms", "10 % to 90 %", "TFLOP/s", "of peak", "ratio", "GiB", "steps as"]
    lines += ["", "## Penumbra", ""] + table_of(head, [row for t in mine for row in ours(t)])
    rows = []
    networks = {t["batch"]: t["rows"][0]["milliseconds"] for t in mine if t["what"] == "network"}
    for t in eager:
        fastest = networks.get(t["batch"])
        for mode, time in t["milliseconds"].items():
            rows.append([mode, str(t["batch"]), cell(time, 2), cell(time / fastest if fastest else None, 2)])
        rows += [[mode, str(t["batch"]), f"failed: {why}", ""] for mode, why in t["failed"].items()]
    lines += ["", "## PyTorch, the same network in the same run", ""]
    lines += table_of(["mode", "images", "ms", "times Penumbra's"], rows)
    own = {t["network"]: t["rows"][0]["milliseconds"] for t in mine if t["what"] == "train"}
    rows = []
    for name, t in training.items():
        for mode, time in t["milliseconds"].items():
            rows.append([name, mode, str(t["batch"]), cell(time, 2), cell(time / own[name] if name in own else None, 2)])
        rows += [[name, mode, str(t["batch"]), f"failed: {why}", ""] for mode, why in t["failed"].items()]
    lines += ["", "## PyTorch's training step, eager with autocast, in the same run", ""]
    lines += table_of(["network", "mode", "images", "ms", "times Penumbra's"], rows)
    if precision:
        lines += precision_lines(precision)
    if likelihood:
        lines += likelihood_lines(likelihood)
    report.write_text("\n".join(lines) + "\n")


main()
