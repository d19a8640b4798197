#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Lines that the tests ran, by folder, after the tests of the preset coverage; the details go to
# build-coverage/report/index.html.
import collections
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-coverage"


def run_gcovr():
    """The summary of every source that is no test."""
    (BUILD / "report").mkdir(exist_ok=True)
    summary = BUILD / "summary.json"
    subprocess.run(
        ["gcovr", "--root", ROOT, "--filter", "src/", "--filter", "include/", "--filter", "cli/",
         "--exclude", r".*_test\.cc", "--exclude-unreachable-branches", "--json-summary", summary,
         "--html-details", BUILD / "report" / "index.html", BUILD], check=True, cwd=ROOT)
    return json.loads(summary.read_text())


def main():
    summary = run_gcovr()
    folders = collections.defaultdict(lambda: [0, 0])
    for file in summary["files"]:
        for name in (str(pathlib.PurePath(file["filename"]).parent), "all"):
            folders[name][0] += file["line_covered"]
            folders[name][1] += file["line_total"]
    print(f"\n{'folder':<20}{'lines':>8}{'run':>8}{'share':>9}")
    for name, (covered, total) in sorted(folders.items(), key=lambda f: (f[0] == "all", f[0])):
        print(f"{name:<20}{total:>8}{covered:>8}{covered / max(total, 1):>9.1%}")
    print("details: build-coverage/report/index.html")


main()
