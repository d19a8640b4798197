# SPDX-License-Identifier: Apache-2.0
# The most anonymous memory that `espalier train` holds, against the table as float32: features and
# label, four bytes a cell. Sampled from /proc every few milliseconds.
#   espalier.py PROGRAM TABLE OPTIONS THREADS
import json
import os
import re
import subprocess
import sys
import tempfile
import time


def anonymous_bytes(pid):
    with open(f"/proc/{pid}/status") as status:
        match = re.search(r"RssAnon:\s+(\d+) kB", status.read())
    return int(match[1]) * 1024 if match else 0


def main():
    program, table, options, threads = sys.argv[1:]
    peak, start = 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/summary", "w+") as summary:
        train = subprocess.Popen(
            [program, "train", table, "--config", options, "--epochs", "2", "--threads", threads,
             "-o", f"{folder}/model.esp", "--json", "--quiet"], stdout=summary)
        while train.poll() is None:
            peak = max(peak, anonymous_bytes(train.pid))
            time.sleep(0.005)
        if train.returncode != 0:
            sys.exit(1)
        summary.seek(0)
        facts = json.load(summary)
    rows = facts["train_rows"] + facts["valid_rows"]
    cells = rows * (facts["features"] + 1)
    print(json.dumps({"contender": "espalier", "value": peak / (4 * cells), "unit": "x the table",
                      "peak_mb": peak / 1e6, "table_mb": 4 * cells / 1e6, "rows": rows,
                      "seconds_an_epoch": facts["seconds"] / 2,
                      "wall_seconds": time.perf_counter() - start}))


main()
