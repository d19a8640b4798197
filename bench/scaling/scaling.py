#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# How time and memory of `espalier train` grow with rows, features, lattices, lattice size,
# keypoints and threads, one at a time from a 70x5D network on 10^5 made-up rows of ten columns.
# Writes scaling.csv and scaling.svg into docs/, or into the folder named as argument.
#
#   bench/scaling/scaling.py [--most-rows 1000000] [FOLDER]
import argparse
import csv
import math
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH), str(BENCH / "data")]
import tables
from watched_train import watched_train

BASE = {"rows": 100000, "features": 10, "lattices": 70, "size": 5, "keypoints": 100, "threads": 2}
STEPS = {"rows": (10**4, 10**5, 10**6, 10**7), "features": (5, 10, 20, 40, 80),
         "lattices": (10, 30, 70, 150, 300), "size": (2, 3, 5, 7, 9, 11),
         "keypoints": (10, 30, 100, 300, 1000), "threads": (1, 2)}
EPOCHS = 2


def measure(case, folder):
    table = folder / f"scaling_{case['rows']}_{case['features']}.csv"
    if not table.exists():
        tables.simulate(table, case["rows"], 1, case["features"] - 1, 1)
    outputs = case["lattices"] * case["size"]
    architecture = (f"cal({case['keypoints']}) lin({outputs}) cal(20) "
                    f"lat({case['lattices']}x{case['size']}) cal(20) lin(1)")
    facts = watched_train(
        tables.ESPALIER, table, "--config", tables.HERE / "loans.json", "--architecture",
        architecture, "--batch-size", "1024", "--epochs", str(EPOCHS), "--valid-fraction", "0",
        "--threads", str(case["threads"]))
    return {"microseconds_a_row": facts["seconds"] / EPOCHS / facts["train_rows"] * 1e6,
            "seconds_an_epoch": facts["seconds"] / EPOCHS, "peak_mb": facts["peak_bytes"] / 1e6,
            "wall_seconds": facts["wall_seconds"]}


def panel(axis, points, left, top):
    """One plot with logarithmic axes, as SVG: microseconds a row against the axis."""
    width, height = 220, 130
    xs, ys = zip(*points)
    def place(value, values, low, high):
        a, b = math.log(min(values)), math.log(max(values))
        return low + (high - low) * ((math.log(value) - a) / (b - a) if b > a else 0.5)
    spots = [(place(x, xs, left + 10, left + width - 10), place(y, ys, top + height - 25, top + 15))
             for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    text = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" class="frame"/>',
            f'<text x="{left + 8}" y="{top - 5}">{axis}</text>',
            f'<polyline points="{line}"/>']
    for (x, y), (value, time) in zip(spots, points):
        text += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>',
                 f'<text x="{x:.1f}" y="{y - 6:.1f}" class="small">{time:.3g}</text>',
                 f'<text x="{x:.1f}" y="{top + height - 6}" class="small">{value:g}</text>']
    return text


def svg(rows):
    style = ("text{font:12px sans-serif}.small{font-size:9px;text-anchor:middle}"
             ".frame{fill:none;stroke:#999}polyline{fill:none;stroke:#1663a6;stroke-width:1.5}"
             "circle{fill:#1663a6}")
    text = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 730 370">',
            f"<style>{style}</style>",
            '<rect width="730" height="370" fill="white"/>',
            '<text x="10" y="16">Training: microseconds a row and epoch (logarithmic axes)</text>']
    for i, axis in enumerate(STEPS):
        points = [(row["value"], row["microseconds_a_row"]) for row in rows if row["axis"] == axis]
        text += panel(axis, points, 10 + 240 * (i % 3), 50 + 165 * (i // 3))
    return "\n".join(text + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=tables.ROOT / "docs")
    parser.add_argument("--most-rows", type=int, default=10**6)
    args = parser.parse_args()
    data = tables.ROOT / "build" / "bench" / "data"
    data.mkdir(parents=True, exist_ok=True)
    rows = []
    for axis, values in STEPS.items():
        for value in values:
            if axis == "rows" and value > args.most_rows:
                continue
            rows.append({"axis": axis, "value": value, **measure({**BASE, axis: value}, data)})
            print(", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}"
                            for k, v in rows[-1].items()), flush=True)
    with open(args.folder / "scaling.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()}
                         for row in rows)
    (args.folder / "scaling.svg").write_text(svg(rows))


main()
