#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs commands side by side, each with one core, for a limited time.
#
#   bench/parallel.py [--jobs 16] [--seconds 560] [--logs FOLDER] FILE
#
# FILE has a line per command, the most important ones first; `#` begins a comment. Commands that
# have not ended in time are interrupted, then killed, and those that have not begun are left out.
# What a command prints goes to FOLDER. Prints a line per command: exit code, seconds and the
# command. A command that fails stops nothing.
import argparse
import os
import signal
import subprocess
import time
from pathlib import Path

PATIENCE = 5  # seconds from the interrupt to the kill


def start(command, log):
    return subprocess.Popen(["bash", "-c", command], stdout=log, stderr=subprocess.STDOUT,
                            start_new_session=True,
                            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})


def stop(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def run(commands, jobs, until, logs):
    waiting = list(enumerate(commands))
    running = {}
    while (waiting or running) and time.monotonic() < until:
        while waiting and len(running) < jobs:
            number, command = waiting.pop(0)
            with open(logs / f"{number}.log", "w") as log:
                running[start(command, log)] = command, time.monotonic()
        for process in [each for each in running if each.poll() is not None]:
            command, begin = running.pop(process)
            seconds = time.monotonic() - begin
            print(f"{process.returncode:4} {seconds:6.0f} s  {command}", flush=True)
        time.sleep(0.2)
    for process, (command, _) in running.items():
        print(f"late: {command}", flush=True)
        stop(process, signal.SIGINT)
    end = time.monotonic() + PATIENCE
    while any(process.poll() is None for process in running) and time.monotonic() < end:
        time.sleep(0.1)
    for process in running:
        stop(process, signal.SIGKILL)
    for _, command in waiting:
        print(f"left out: {command}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Runs commands side by side for a limited time.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--logs", type=Path, default=Path("build/bench/logs"))
    args = parser.parse_args()
    args.logs.mkdir(parents=True, exist_ok=True)
    commands = [line for line in map(str.strip, args.file.read_text().splitlines())
                if line and not line.startswith("#")]
    run(commands, args.jobs, time.monotonic() + args.seconds, args.logs)


if __name__ == "__main__":
    main()
