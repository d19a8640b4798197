# SPDX-License-Identifier: Apache-2.0
# The program under test, called as a user does.
import json
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "data"))
import tables


def output_of(*arguments):
    done = subprocess.run([tables.ESPALIER, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"espalier {shlex.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def espalier(*arguments):
    """What a command prints with --json."""
    return json.loads(output_of(*arguments, "--json"))
