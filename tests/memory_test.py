#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train --memory SIZE is a promise: the most anonymous memory of the program stays below it, whatever
the number of rows, and where that cannot be, the error says how much is needed, which then suffices.

    memory_test.py build/espalier
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ESPALIER = os.path.abspath(sys.argv.pop(1) if len(sys.argv) > 1 else "build/espalier")
LINEAR = ["--architecture", "cal(20) lin(1)"]
CASES = {  # rows, flags of simulate, the label, flags of train
    "few rows": (2000, [], "default", LINEAR),
    "many rows": (150_000, [], "default", LINEAR),
    "a network": (20_000, [], "default", ["--architecture", "dln(200x7)", "--batch-size", "512"]),
    "an ensemble": (30_000, [], "default", [*LINEAR, "--ensemble", "3", "--valid-fraction", "0.3"]),
    "quantiles": (30_000, ["--kind", "prices"], None, [*LINEAR, "--quantile", "0.1,0.5,0.9",
                                                     "--valid-fraction", "0.5"]),
    "grades": (30_000, ["--kind", "grades"], None, [*LINEAR, "--grades",
                                                    "low<moderate<high<severe"]),
}


def peak_of(args, folder):
    """Exit status, messages and the most anonymous memory, in bytes, sampled."""
    with open(folder / "messages", "w+") as messages:
        program = subprocess.Popen([ESPALIER, *args], cwd=folder, stderr=messages,
                                   stdout=subprocess.DEVNULL)
        peak = 0
        while program.poll() is None:
            try:
                status = Path(f"/proc/{program.pid}/status").read_text()
            except OSError:
                break
            found = re.search(r"RssAnon:\s+(\d+) kB", status)
            peak = max(peak, int(found[1]) << 10 if found else 0)
            time.sleep(0.001)
        messages.seek(0)
        return program.wait(), messages.read(), peak


class Memory(unittest.TestCase):
    def train(self, folder, flags, label, size):
        return peak_of(["train", "t.csv", "--label", label, "--epochs", "1", "--interactions",
                        "none", "--threads", "2", "--memory", size, "-o", "m.esp", "--quiet",
                        *flags], folder)

    def check(self, folder, flags, label):
        """The least memory that is accepted, found by asking for too little, is enough."""
        status, messages, _ = self.train(folder, flags, label, "32M")
        needed = 32
        if status != 0:
            found = re.search(r"memory: 32 MB are allowed, but training takes up to (\d+) MB",
                              messages)
            self.assertTrue(found, messages)
            self.assertFalse((folder / "m.esp").exists())
            needed = int(found[1])
        status, messages, peak = self.train(folder, flags, label, f"{needed}M")
        self.assertEqual(status, 0, messages)
        self.assertLess(peak, needed << 20)
        self.assertGreater(peak, 1 << 18)  # it was seen
        kept = sorted(path.name for path in folder.iterdir())
        self.assertEqual(kept, ["m.esp", "messages", "t.csv"])
        print(f"{self.id()}: {peak >> 20} of {needed} MB", file=sys.stderr)

    def test_the_most_memory_stays_below_the_promise(self):
        for name, (rows, simulated, label, flags) in CASES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                subprocess.run([ESPALIER, "simulate", "--rows", str(rows), *simulated, "-o",
                                folder / "t.csv"], check=True, stderr=subprocess.DEVNULL)
                with open(folder / "t.csv") as table:
                    last = table.readline().strip().split(",")[-1]
                self.check(folder, flags, label or last)

    def test_words_count(self):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            with open(folder / "t.csv", "w") as table:
                print("name,x,y", file=table)
                for row in range(60_000):
                    print(f"a word of some length {row},{row % 7},{row * row % 11}", file=table)
            self.check(folder, LINEAR, "y")


if __name__ == "__main__":
    unittest.main()
