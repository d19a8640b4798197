#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The program under mpirun, where it is built with MPI; the library is not linked with it.
# Usage: mpi_test.py PROGRAM LIBRARY. ESPALIER_KILLS: how many ranks are killed (3). ESPALIER_PYTHON: one
# that has the package and mpi4py.
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve()
LIBRARY = Path(sys.argv.pop(1)).resolve()
KILLS = int(os.environ.get("ESPALIER_KILLS", 3))
PYTHON = os.environ.get("ESPALIER_PYTHON")
SCRIPT = """
import espalier, sys
from mpi4py import MPI
loans = espalier.simulate(rows=900, seed=1)
y = loans.pop("default")
risk = espalier.MonotonicClassifier(monotonic_cst={"debt_ratio": 1}, epochs=2, ensemble=1, n_jobs=1,
                                    batch_size=512, random_state=0)
if sys.argv[1:] and MPI.COMM_WORLD.rank == 1:
    raise RuntimeError("rank 1 has enough")
risk.fit(loans, y, communicator=MPI.COMM_WORLD)
if MPI.COMM_WORLD.rank == 0:
    risk.model_.save("m.esp")
"""
COLUMNS = ("--label", "default", "--increasing", "debt_ratio,late_payments", "--decreasing", "income")
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def linked(path):
    text = subprocess.run(["ldd", path], check=True, text=True, stdout=subprocess.PIPE).stdout
    return re.findall(r"\blib(?:mpi|open-rte|pmix)\w*\.so", text)


def words(command):
    return [str(word) for word in command]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


class Links(unittest.TestCase):
    def test_the_library_needs_no_mpi(self):
        self.assertEqual(linked(LIBRARY), [])


@unittest.skipUnless(linked(PROGRAM), "the program was built without MPI: make build MPI=ON")
class Mpi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.run_alone("simulate", "--rows", 900, "-o", "loans.csv")
        self.run_alone("simulate", "--rows", 900, "--seed", 2, "-o", "other.csv")

    def run_alone(self, *args):
        subprocess.run(words([PROGRAM, *args]), cwd=self.path, check=True, stderr=subprocess.PIPE)

    def mpirun(self, *args):
        return subprocess.run(words(["mpirun", "--oversubscribe", *args]), cwd=self.path, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)

    def model(self):
        file = self.path / "m.esp"
        bytes_of_it = file.read_bytes()
        file.unlink()
        return bytes_of_it

    def must(self, ranks, *args):
        done = self.mpirun("-n", ranks, PROGRAM, *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        for flags in (("--epochs", 2, "--ensemble", 2, "--batch-size", 512),
                      ("--architecture", "crystals(6x2)", "--epochs", 2, "--batch-size", 512),
                      ("--epochs", 1, "--ensemble", 1, "--memory", "256M", "--cache", "cache")):
            train = ("train", "loans.csv", "-o", "m.esp", *COLUMNS, *flags)
            self.run_alone(*train)
            alone = self.model()
            for ranks in (2, 3, 4, 8):
                self.must(ranks, *train)
                self.assertEqual(self.model() == alone, True, (flags, ranks))

    def test_the_first_rank_talks(self):
        done = self.must(3, "train", "loans.csv", "-o", "m.esp", *COLUMNS, "--epochs", 2, "--json")
        self.assertEqual(json.loads(done.stdout)["model"], "m.esp")
        self.assertEqual(done.stderr.count("best epoch"), 1)
        self.assertEqual(sorted(os.listdir(self.path)), ["loans.csv", "m.esp", "other.csv"])

    def test_tune_gives_the_same_model_and_results(self):
        tune = ("tune", "loans.csv", "-o", "m.esp", *COLUMNS, "--trials", 5, "--epochs", 3,
                "--ensemble", 1, "--threads", 1, "--results")
        self.run_alone(*tune, "alone.jsonl")
        alone = self.model()
        self.must(3, *tune, "ranks.jsonl")
        self.assertEqual(self.model() == alone, True)

        def runs(name):
            lines = (self.path / name).read_text().splitlines()[1:]
            return sorted(re.sub(r'"seconds":[^,}]*', "", line) for line in lines)
        self.assertEqual(runs("ranks.jsonl"), runs("alone.jsonl"))

    def test_a_rank_that_fails_ends_all_and_says_why(self):
        def train(table):
            return ("-n", 1, PROGRAM, "train", table, "-o", "m.esp", *COLUMNS)
        for args, message in (
                ((*train("loans.csv"), ":", *train("nothing.csv")), "espalier: rank 1: cannot read nothing.csv"),
                ((*train("loans.csv"), ":", *train("other.csv")),
                 "espalier: rank 1: not the same as on rank 0: the size of "),
                (("-n", 2, PROGRAM, "train", "-", *COLUMNS),
                 "espalier: only the first of several ranks has the standard input")):
            done = self.mpirun(*args)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)
            self.assertFalse((self.path / "m.esp").exists())

    @unittest.skipUnless(PYTHON, "no ESPALIER_PYTHON")
    def test_python_does_the_same_by_mpi4py(self):
        (self.path / "loans.py").write_text(SCRIPT)
        models = set()
        for ranks in (1, 2, 3):
            done = self.mpirun("-n", ranks, PYTHON, "-m", "mpi4py", "loans.py")
            self.assertEqual(done.returncode, 0, done.stderr)
            models.add(self.model())
        self.assertEqual(len(models), 1)
        done = self.mpirun("-n", 2, PYTHON, "-m", "mpi4py", "loans.py", "fail")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rank 1 has enough", done.stderr)

    def end_of(self, job, children):
        """What a job said; nothing if its ranks are gone and mpirun is not: Open MPI 4.1 may wait for
        a lock of its own in pmix_rte_finalize."""
        while True:
            try:
                return job.communicate(timeout=5)[0]
            except subprocess.TimeoutExpired:
                if children and not any(is_alive(pid) for pid in children):
                    job.kill()
                    job.communicate()
                    return None

    def kill_one(self, ranks, args, seconds):
        """Whether a rank was killed before the end."""
        job = subprocess.Popen(words(["mpirun", "--oversubscribe", "-n", ranks, PROGRAM, *args]),
                               cwd=self.path, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env=ENVIRONMENT)
        time.sleep(seconds)
        try:
            children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
            names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in children}
            os.kill(int(random.choice([p for p in names if names[p] == PROGRAM.name])), signal.SIGKILL)
            killed = True
        except (OSError, IndexError):  # not begun, or over
            killed = False
        text = self.end_of(job, children if killed else [])
        if text is None:
            return True
        if killed and job.returncode != 0:
            self.assertRegex(text, "exited on signal 9|the job has been aborted")  # mpirun says so
            return True
        self.assertEqual(job.returncode, 0, text)
        return False

    def test_ranks_that_are_killed_resume_to_the_same_bytes(self):
        train = ("train", "loans.csv", "-o", "m.esp", *COLUMNS, "--epochs", 20, "--ensemble", 2,
                 "--batch-size", 128, "--threads", 1, "--checkpoint", "run")
        begin = time.time()
        self.must(2, *train)
        longest = time.time() - begin
        undisturbed = self.model()
        random.seed(1)
        kills = lives = 0
        while kills < KILLS:
            ranks = random.choice((2, 3, 4))
            args = (*train, "--checkpoint-seconds", random.choice((0, 0.01)), "--resume")
            kills += self.kill_one(ranks, args, random.uniform(0, longest))
            lives += 1
            print(f"\r{kills} kills, {lives} lives", end="", file=sys.stderr)
            if (self.path / "m.esp").exists():
                self.assertEqual(self.model() == undisturbed, True, f"{kills} kills")
        self.must(2, *train, "--resume")
        self.assertEqual(self.model() == undisturbed, True, f"{kills} kills in {lives} lives")
        print(f"{kills} ranks killed in {lives} lives: the same bytes", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
