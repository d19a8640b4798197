#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The installed C library: the example built and run as C99, the same calls by ctypes, misuse, and
# which symbols are seen. Usage: c_api_test.py ROOT PREFIX PROGRAM
import ctypes
import math
import re
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from ctypes import byref, c_char_p, c_double, c_float, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path

ROOT, PREFIX, PROGRAM = (Path(sys.argv.pop(1)).resolve() for _ in range(3))
HEADER = PREFIX / "include/espalier/c.h"
LIBRARY = next(PREFIX.glob("lib*/**/libespalier.so"))
OK, ARGUMENT, FILE, FORMAT = 0, 1, 2, 3
PREDICTION, SCORE = 0, 1


# Prints the bits of the predictions for rows of one number; -Ofast makes it flush subnormal numbers.
HOST = r"""
#include <espalier/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  espalier_model* model;
  espalier_scratch* scratch;
  volatile float least = 0x1p-149f, one = 1;
  unsigned bits;
  float out;
  int i;
  if (espalier_load(argv[1], &model) != ESPALIER_OK) return 1;
  if (espalier_scratch_new(model, &scratch) != ESPALIER_OK) return 1;
  for (i = 2; i < argc; ++i) {
    bits = (unsigned)strtoul(argv[i], NULL, 16);
    float row;
    memcpy(&row, &bits, sizeof row);
    if (espalier_predict(model, scratch, ESPALIER_PREDICTION, &row, 1, &out, 1) != ESPALIER_OK)
      return 1;
    memcpy(&bits, &out, sizeof bits);
    printf("%08x\n", bits);
  }
  puts(least * one > 0 ? "keeps" : "flushes");
  return 0;
}
"""


class Proof(ctypes.Structure):
    _fields_ = [("holds", c_int), ("inequalities", c_uint64), ("violations", c_uint64),
                ("pairs", c_uint64), ("pair_violations", c_uint64), ("largest_drop", c_double)]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout


def library():
    loaded = ctypes.CDLL(str(LIBRARY))
    for name in ("espalier_version", "espalier_last_error"):
        getattr(loaded, name).restype = c_char_p
    for name in ("espalier_free", "espalier_scratch_free"):
        getattr(loaded, name).restype = None
        getattr(loaded, name).argtypes = [c_void_p]
    return loaded


class CApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        cls.model_file = cls.path / "loans.esp"
        run(PROGRAM, "simulate", "--rows", 300, "-o", cls.path / "loans.csv")
        run(PROGRAM, "train", cls.path / "loans.csv", "--label", "default", "--epochs", 2,
            "--increasing", "debt_ratio,late_payments", "--decreasing", "income,years_employed",
            "--quiet", "-o", cls.model_file)
        cls.c = library()
        cls.model = c_void_p()
        assert cls.c.espalier_load(bytes(cls.model_file), byref(cls.model)) == OK
        cls.scratch = c_void_p()
        assert cls.c.espalier_scratch_new(cls.model, byref(cls.scratch)) == OK

    @classmethod
    def tearDownClass(cls):
        cls.c.espalier_scratch_free(cls.scratch)
        cls.c.espalier_free(cls.model)
        cls.c.espalier_free(None)
        cls.c.espalier_scratch_free(None)
        cls.folder.cleanup()

    def get(self, function, kind, *arguments):
        result = kind()
        self.assertEqual(getattr(self.c, function)(self.model, *arguments, byref(result)), OK)
        return result.value

    def names(self):
        return [self.get("espalier_input_name", c_char_p, c_size_t(f)).decode()
                for f in range(self.get("espalier_num_inputs", c_size_t))]

    def predict(self, rows, num_out, output=PREDICTION, scratch=None):
        cells, out = (c_float * len(rows))(*rows), (c_float * max(num_out, 1))()
        status = self.c.espalier_predict(self.model, scratch or self.scratch, output, cells,
                                         c_size_t(len(rows)), out, c_size_t(num_out))
        return status, list(out)[:num_out]

    def test_the_example_in_c99_predicts_as_the_program_does(self):
        serve = self.path / "serve"
        run("cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{PREFIX}/include",
            ROOT / "examples/serve.c", f"-L{LIBRARY.parent}", "-lespalier",
            f"-Wl,-rpath,{LIBRARY.parent}", "-lm", "-o", serve)
        (self.path / "row.csv").write_text(
            ",".join(self.names()) + "\n32100,0.11,0,,,,north,,rent\n")
        wanted = run(PROGRAM, "predict", self.model_file, self.path / "row.csv").split()[-1]
        lines = run(serve, self.model_file, "income=32100", "debt_ratio=0.11", "late_payments=0",
                    "region=north", "housing=rent").splitlines()
        self.assertIn("income: number, direction -1, 0 words", lines)
        self.assertIn("monotone: proved", lines)
        found = lines[-1].removeprefix("prediction: ")
        self.assertEqual(c_float(float(found)).value, c_float(float(wanted)).value)

    def test_the_header_is_clean_in_c_and_cpp(self):
        for compiler, standard in (("cc", "c99"), ("cc", "c11"), ("c++", "c++11"), ("c++", "c++20")):
            language = "c++" if "+" in standard else "c"
            run(compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror",
                "-fsyntax-only", f"-I{PREFIX}/include", "-x", language, "-",
                input='#include "espalier/c.h"\n#include "espalier/c.h"\n')

    def test_many_rows_give_what_single_rows_give_and_the_program_predicts(self):
        names = self.names()
        lines = (self.path / "loans.csv").read_text().splitlines()
        columns = lines[0].split(",")
        rows = []
        for line in lines[1:]:
            cells = dict(zip(columns, line.split(",")))
            for f, name in enumerate(names):
                if self.get("espalier_input_kind", c_int, c_size_t(f)) == 0:
                    rows.append(float(cells[name]) if cells[name] else math.nan)
                else:
                    word = c_char_p(cells[name].encode())
                    rows.append(self.get("espalier_code", c_float, c_size_t(f), word))
        count, width = len(lines) - 1, len(names)
        status, many = self.predict(rows, count)
        self.assertEqual(status, OK)
        single = [self.predict(rows[r * width:(r + 1) * width], 1)[1][0] for r in range(count)]
        self.assertEqual(many, single)
        printed = run(PROGRAM, "predict", self.model_file, self.path / "loans.csv").split()[1:]
        self.assertEqual(many, [c_float(float(text)).value for text in printed])
        scores = self.predict(rows, count, SCORE)[1]
        self.assertTrue(all(abs(p - 1 / (1 + math.exp(-z))) < 1e-6 for p, z in zip(many, scores)))

    def test_a_host_that_flushes_subnormal_numbers_gets_the_same_bits(self):
        places = [k * 1e-41 for k in range(-40, 40)]
        table, model = self.path / "tiny.csv", self.path / "tiny.esp"
        table.write_text("x,y\n" + "".join(f"{x!r},{i}\n" for i, x in enumerate(places)))
        run(PROGRAM, "train", table, "--label", "y", "--increasing", "x", "--epochs", 3,
            "--quiet", "-o", model)
        bits = [struct.unpack("<I", struct.pack("<f", sign * x * 1e-45))[0]
                for x in range(0, 300_000, 7001) for sign in (-1, 1)]
        (self.path / "host.c").write_text(HOST)
        printed = {}
        for flag in ("-O2", "-Ofast"):
            host = self.path / "host"
            run("cc", "-std=c99", flag, f"-I{PREFIX}/include", self.path / "host.c",
                f"-L{LIBRARY.parent}", "-lespalier", f"-Wl,-rpath,{LIBRARY.parent}", "-o", host)
            printed[flag] = run(host, model, *(f"{b:08x}" for b in bits)).split()
        if printed["-Ofast"][-1] != "flushes":
            self.skipTest("-Ofast keeps subnormal numbers here")
        self.assertEqual(printed["-O2"][-1], "keeps")
        self.assertEqual(printed["-Ofast"][:-1], printed["-O2"][:-1])
        self.assertGreater(len(set(printed["-O2"])), 20)

    def test_the_schema_is_that_of_the_model(self):
        region = self.names().index("region")
        self.assertEqual(self.get("espalier_label_name", c_char_p), b"default")
        self.assertEqual(self.get("espalier_score_class", c_char_p, c_size_t(0)), b"yes")
        self.assertEqual(len(self.get("espalier_hash", c_char_p)), 16)
        self.assertEqual(self.get("espalier_num_scores", c_size_t), 1)
        self.assertEqual(self.get("espalier_input_direction", c_int, c_size_t(0)), -1)
        for code in range(self.get("espalier_num_words", c_size_t, c_size_t(region))):
            word = self.get("espalier_word", c_char_p, c_size_t(region), c_size_t(code))
            self.assertEqual(
                self.get("espalier_code", c_float, c_size_t(region), c_char_p(word)), code)

    def test_a_model_from_bytes_is_the_same(self):
        data, other, text = self.model_file.read_bytes(), c_void_p(), c_char_p()
        self.assertEqual(self.c.espalier_from_bytes(data, c_size_t(len(data)), byref(other)), OK)
        self.assertEqual(self.c.espalier_hash(other, byref(text)), OK)
        self.assertEqual(text.value, self.get("espalier_hash", c_char_p))
        self.c.espalier_free(other)
        self.assertEqual(self.c.espalier_from_bytes(data, c_size_t(50), byref(other)), FORMAT)

    def test_the_proof_is_tried_again(self):
        proof = Proof()
        self.assertEqual(self.c.espalier_verify(self.model, c_uint64(1000), c_uint64(1),
                                                byref(proof)), OK)
        self.assertEqual((proof.holds, proof.violations, proof.pair_violations), (1, 0, 0))
        self.assertGreaterEqual(proof.pairs, 1000)
        self.assertGreater(proof.inequalities, 0)

    def test_null_is_a_status_in_every_function(self):
        header = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
        functions = re.findall(r"espalier_status (\w+)\(([^)]*)\)", header)
        self.assertEqual(len(functions), 16)
        for name, parameters in functions:
            types = [p.strip() for p in parameters.split(",")]
            zeros = [c_void_p() if "*" in t else c_uint64(1) for t in types]
            self.assertEqual(getattr(self.c, name)(*zeros), ARGUMENT, name)
            self.assertIn(b"NULL", self.c.espalier_last_error(), name)
            # A model and nothing else.
            if "espalier_model* model" in parameters and "**" not in types[0]:
                zeros[0] = self.model
                self.assertEqual(getattr(self.c, name)(*zeros), ARGUMENT, name)

    def test_misuse_is_a_status_with_a_message(self):
        model, width, text = c_void_p(), len(self.names()), c_char_p()
        load = self.c.espalier_load
        self.assertEqual(load(bytes(self.path / "absent.esp"), byref(model)), FILE)
        self.assertIn(b"absent.esp", self.c.espalier_last_error())
        self.assertEqual(load(bytes(self.path / "loans.csv"), byref(model)), FORMAT)
        self.assertIsNone(model.value)
        self.assertEqual(
            self.c.espalier_input_name(self.model, c_size_t(width), byref(text)), ARGUMENT)
        self.assertIn(b"wanted less than", self.c.espalier_last_error())
        for cells, out in ((width - 1, 1), (width, 2), (2 * width, 1), (0, 1), (width, 0)):
            self.assertEqual(self.predict([0.0] * cells, out)[0], ARGUMENT, (cells, out))
            self.assertIn(b"for each row", self.c.espalier_last_error())
        self.assertEqual(self.predict([], 0)[0], OK)
        self.assertEqual(self.predict([0.0] * width, 1, output=7)[0], ARGUMENT)
        self.assertEqual(load(bytes(self.model_file), byref(model)), OK)
        other = c_void_p()
        self.assertEqual(self.c.espalier_scratch_new(model, byref(other)), OK)
        self.assertEqual(self.predict([0.0] * width, 1, scratch=other), (ARGUMENT, [0.0]))
        self.assertIn(b"another model", self.c.espalier_last_error())
        self.c.espalier_scratch_free(other)
        self.c.espalier_free(model)

    def test_every_thread_has_its_own_message(self):
        self.assertEqual(self.predict([0.0], 1)[0], ARGUMENT)
        message = self.c.espalier_last_error()
        seen = []
        def other():
            seen.append(self.c.espalier_last_error())
            self.c.espalier_load(bytes(self.path / "absent.esp"), byref(c_void_p()))
            seen.append(self.c.espalier_last_error())
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        self.assertEqual(seen[0], b"")
        self.assertIn(b"absent.esp", seen[1])
        self.assertEqual(self.c.espalier_last_error(), message)

    def test_only_the_functions_of_the_header_are_seen_each_with_its_version(self):
        listing = run("nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY).split("\n")
        found = {line.split()[-1] for line in listing if line and " A " not in line}
        header = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
        declared = set(re.findall(r"\b(espalier_\w+)\(", header))
        self.assertEqual({name.split("@")[0] for name in found}, declared)
        self.assertTrue(all("@@ESPALIER_" in name for name in found), found)


if __name__ == "__main__":
    unittest.main()
