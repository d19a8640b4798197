#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Training on the ranks of mpirun: whether the models are the same, how much faster two ranks of one
# thread are than one, and the bytes that a step sends. Wants a program that `make build MPI=ON` made.
#
#   bench/scaling/ranks.py [--rows 200000] [--rounds 5] [--ranks 1 2 4]
#   bench/scaling/ranks.py --network    # as root: two ranks in two network namespaces, over TCP
#   bench/scaling/ranks.py --paper      # what more machines would bring on 10 Gbit/s: the formula
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH), str(BENCH / "data")]
import tables

BATCH, EPOCHS = 4096, 10
FLAGS = ("--config", tables.HERE / "loans.json", "--architecture", "dln(40x4)", "--batch-size", BATCH,
         "--epochs", EPOCHS, "--interactions", "none", "--ensemble", 1, "--threads", 1)
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
NAMESPACES = ("espalier_a", "espalier_b")
LINKS = ("espalier_va", "espalier_vb")
ADDRESSES = ("10.77.21.1", "10.77.21.2")


def run(*command, **options):
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def train(table, ranks, launcher=None):
    if launcher is None:  # with more ranks than cores those that wait must give way
        launcher = ["mpirun"] + ["--oversubscribe"] * (ranks > os.cpu_count())
    model = table.with_suffix(".esp")
    with contextlib.suppress(FileNotFoundError):
        model.unlink()
    text = run(*launcher, "-n", ranks, tables.ESPALIER, "train", table, "-o", model, *FLAGS, "--quiet",
               "--json", env=os.environ | AS_ROOT)
    facts = json.loads(text)
    facts["bytes"] = model.read_bytes()
    return facts


def steps_of(facts):
    return -(-facts["train_rows"] // BATCH) * EPOCHS


def compare(table, args):
    found = {ranks: [] for ranks in args.ranks}
    models = set()
    for _ in range(args.rounds):
        for ranks in args.ranks:  # in turns, so that a busy machine is one for all
            facts = train(table, ranks)
            found[ranks].append(facts["seconds"])
            models.add(facts["bytes"])
    print(f"{facts['parameters']} parameters, {steps_of(facts)} steps of {BATCH} rows; median of "
          f"{args.rounds} rounds, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| ranks of one thread | seconds | times as fast as one |")
    print("| --- | --- | --- |")
    one = found[args.ranks[0]]
    for ranks, seconds in found.items():
        ratio = statistics.median(a / b for a, b in zip(one, seconds))
        print(f"| {ranks} | {statistics.median(seconds):.2f} | {ratio:.2f} |")
    print("same bytes:", "yes" if len(models) == 1 else "NO")


@contextlib.contextmanager
def two_networks():
    """Two namespaces that only a pair of virtual cables joins."""
    try:
        for space in NAMESPACES:
            run("ip", "netns", "add", space)
        run("ip", "link", "add", LINKS[0], "type", "veth", "peer", "name", LINKS[1])
        for space, link, address in zip(NAMESPACES, LINKS, ADDRESSES):
            run("ip", "link", "set", link, "netns", space)
            run("ip", "-n", space, "addr", "add", f"{address}/24", "dev", link)
            run("ip", "-n", space, "link", "set", link, "up")
            run("ip", "-n", space, "link", "set", "lo", "up")
        yield
    finally:
        for space in NAMESPACES:
            subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL)


def sent(space, link):
    text = run("ip", "-n", space, "-json", "-s", "link", "show", link)
    return json.loads(text)[0]["stats64"]["tx"]["bytes"]


def over_network(table):
    alone = train(table, 1)
    agent = table.with_name("agent.sh")  # what mpirun takes for ssh: HOST COMMAND
    agent.write_text("#!/bin/sh\nshift\n"
                     f"exec ip netns exec {NAMESPACES[1]} unshare --uts sh -c \"hostname b; $*\"\n")
    agent.chmod(0o755)
    subnet = ADDRESSES[0].rsplit(".", 1)[0] + ".0/24"
    with two_networks():
        launcher = ["ip", "netns", "exec", NAMESPACES[0], "mpirun", "--host", ",".join(ADDRESSES),
                    "--mca", "plm_rsh_agent", agent, "--mca", "btl", "tcp,self"]
        for layer in ("btl", "oob"):
            launcher += ["--mca", f"{layer}_tcp_if_include", subnet]
        together = train(table, 2, launcher)
        bytes_sent = sent(NAMESPACES[0], LINKS[0])
    steps = steps_of(together)
    print(f"{together['parameters']} parameters, {steps} steps: {bytes_sent / steps:.0f} bytes a step "
          f"left rank 0 (4 a parameter: {4 * together['parameters']}); {alone['seconds']:.2f} s alone, "
          f"{together['seconds']:.2f} s together")
    print("same bytes:", "yes" if alone["bytes"] == together["bytes"] else "NO")


# Of one thread on dln(40x4): seconds a row of a gradient, seconds of Adam and the projection.
ROW, UPDATE = 0.75e-6, 70e-6
# 10 Gbit/s; seconds until an exchange of small messages is over, of which a step has three, and seconds
# that each message takes its sender.
BYTES_A_SECOND, EXCHANGE, MESSAGE = 1.25e9, 30e-6, 1e-6


def step_seconds(machines, parameters, batch, threads, shards=None):
    """The formula of docs/scaling.md."""
    busy = min(machines, shards or machines)
    work = ROW * batch / threads / busy + UPDATE
    if machines == 1:
        return work
    sent = 8 * parameters * (machines - 1) / machines
    return work + sent / BYTES_A_SECOND + 3 * (EXCHANGE + MESSAGE * (machines - 1))


def on_paper():
    machines = (2, 4, 8, 16, 32, 64)
    print("| parameters | rows a step | threads | shards |", " | ".join(map(str, machines)), "|")
    print("| --- " * (4 + len(machines)) + "|")
    for parameters, batch, threads in ((9000, 4096, 1), (9000, 4096, 16), (9000, 65536, 16),
                                       (9000, 2**20, 16)):
        for shards in (8, 64):
            one = step_seconds(1, parameters, batch, threads)
            gains = [one / step_seconds(m, parameters, batch, threads, shards) for m in machines]
            print(f"| {parameters:,} | {batch:,} | {threads} | {shards} |",
                  " | ".join(f"{gain:.1f}" for gain in gains), "|")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--paper", action="store_true")
    args = parser.parse_args()
    if args.paper:
        return on_paper()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "loans.csv"
        tables.simulate(table, args.rows, 1, 9, 1)
        over_network(table) if args.network else compare(table, args)


if __name__ == "__main__":
    main()
