# SPDX-License-Identifier: Apache-2.0
# The contenders of a task, a file each in its folder: what runs them, what they print, and where.
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "bench"


def commands_of(folder, peers):
    """The command of each contender of a task, ours first."""
    commands = []
    for path in sorted(folder.iterdir()):
        if path.name == "espalier.cc":
            commands.append([BUILD / f"bench_{folder.name}"])
        elif path.name == "espalier.py":
            commands.append([sys.executable, path])
        elif path.name.startswith("peer_") and peers:
            commands.append([peers, path])
    return commands


def run(command, threads):
    """The lines that a contender prints."""
    # Waiting threads sleep: on a shared machine those that spin hurt themselves most.
    paths = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": str(threads),
           "OMP_WAIT_POLICY": "passive", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([str(word) for word in command], env=env, text=True, capture_output=True)
    if "ModuleNotFoundError" in done.stderr:  # something that the peer itself needs
        name = next(Path(word).stem[len("peer_"):] for word in command if "peer_" in str(word))
        return [{"contender": name, "absent": done.stderr.strip().splitlines()[-1]}]
    if done.returncode != 0:
        sys.exit(f"run.py: {' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def output_of(*command):
    try:
        done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    except FileNotFoundError:  # a machine without git
        return ""
    return done.stdout.strip()


def circumstances(espalier, **more):
    """What else decides the numbers: machine, versions, commit, and whatever the caller knows."""
    cpu = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
           if line.startswith("model name")]
    return {"cpu": cpu[0] if cpu else platform.processor(), "cores": os.cpu_count(), **more,
            "load_average_at_start": os.getloadavg()[0],
            "espalier": output_of(espalier, "--version"),
            "python": platform.python_version(),
            "commit": output_of("git", "rev-parse", "HEAD"),
            "changed": bool(output_of("git", "status", "--porcelain")),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
