# SPDX-License-Identifier: Apache-2.0
# Runs `espalier train` and watches it: its summary, its wall time, and the most anonymous memory it
# holds, sampled from /proc every few milliseconds.
import json
import re
import subprocess
import sys
import tempfile
import time


def anonymous_bytes(pid):
    with open(f"/proc/{pid}/status") as status:
        match = re.search(r"RssAnon:\s+(\d+) kB", status.read())
    return int(match[1]) * 1024 if match else 0


def watched_train(program, table, *flags):
    """The summary that --json prints, with peak_bytes and wall_seconds added."""
    peak, start = 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/summary", "w+") as summary:
        train = subprocess.Popen([program, "train", table, *flags, "-o", f"{folder}/model.esp",
                                  "--json", "--quiet"], stdout=summary)
        while train.poll() is None:
            peak = max(peak, anonymous_bytes(train.pid))
            time.sleep(0.005)
        if train.returncode != 0:
            sys.exit(f"espalier train {table}: exit status {train.returncode}")
        summary.seek(0)
        return {**json.load(summary), "peak_bytes": peak,
                "wall_seconds": time.perf_counter() - start}
