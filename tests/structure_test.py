#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The rules of the tree that no compiler checks. Usage: structure_test.py [ROOT]
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1) if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()

# What the public headers that these folders see may be, directly or through others: a change of the
# API for tables, models or options does not compile the layers again.
MAY_SEE = {
    "core": ["auto.h", "error.h", "fields.h", "json.h", "output_file.h", "text.h", "version.h", "words.h"],
    "constraints": [],
    "layers": ["architecture.h", "choices.h", "words.h"],
}
LIBRARIES = ["fmt", "gmock", "gtest", "hwy", "rapidcheck"]
CLI_LIBRARIES = ["CLI", "fmt"]
PYTHON_LIBRARIES = ["nanobind"]
LAYER_CAST = re.compile(
    r"(static|dynamic)_cast<(const )?(Calibrators|Linear|Lattices|Gather|Sum|MinMax|Relu|Trees)\b")
NOISE = re.compile(
    r"std::(cout|cerr|clog|exit|quick_exit|_Exit|abort|terminate)\b|\bfmt::print\b"
    r"|(?<![\w:.>])(std::)?(v?f?printf|f?puts|f?putc|putchar|perror|exit|_exit|abort)\s*\(")
MACHINE_PATH = re.compile(r"(?<![\w.}])/(home|root|work|workspace|Users|mnt)/\w")
TEXT = {".h", ".cc", ".c", ".map", ".py", ".pyi", ".sh", ".md", ".txt", ".cmake", ".in", ".json", ".toml"}
CODE = {".h", ".cc", ".c", ".map", ".py", ".pyi", ".sh", ".cmake", ".in", ".toml"}


def may_include():
    """{folder of src/: folders that it may include}, the table of docs/design.md."""
    rows = re.findall(r"^\| `(\w+)` \|.*\|([^|]*)\|$", (ROOT / "docs/design.md").read_text(), re.MULTILINE)
    return {folder: re.findall(r"`(\w+)`", allowed) for folder, allowed in rows}


def files(*folders, suffixes=(".h", ".cc")):
    found = (p for folder in folders for p in (ROOT / folder).rglob("*") if p.suffix in suffixes)
    return sorted(p for p in found if p.is_file())


def tree(suffixes):
    """Every file of the project with one of these suffixes, and those known by their whole name."""
    skipped = re.compile(r"\.git$|\.venv$|build$|build-|__pycache__$")
    for path in sorted(ROOT.rglob("*")):
        if any(skipped.match(part) for part in path.relative_to(ROOT).parts):
            continue
        if path.is_file() and (path.suffix in suffixes or path.name in ("Makefile", "run")):
            yield path


def includes(path):
    """(line number, opening bracket, included name) of every include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s*(["<])([^">]+)', line):
            yield number, match[1], match[2]


def seen_headers(path, seen=None):
    """The headers of include/espalier that a file includes, directly or through others."""
    seen = set() if seen is None else seen
    for _, bracket, name in includes(path):
        for folder in ("include", "src"):
            header = ROOT / folder / name
            if bracket == '"' and header.is_file() and header not in seen:
                seen.add(header)
                seen_headers(header, seen)
    return {h.name for h in seen if h.parent == ROOT / "include" / "espalier"}


def code_lines(path):
    """(line number, line without its comment and the inside of its strings)."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        yield number, re.sub(r'"(\\.|[^"\\])*"|//.*', "", line)


class Structure(unittest.TestCase):
    longMessage = False

    def check(self, culprits):
        culprits = list(culprits)
        self.assertFalse(culprits, "\n  " + "\n  ".join(culprits))

    def place(self, path, number):
        return f"{path.relative_to(ROOT)}:{number}"

    def test_folders_include_only_what_the_table_allows(self):
        table = may_include()

        def culprits():
            for path in files("src"):
                folder = path.relative_to(ROOT / "src").parts[0]
                if folder not in table:
                    yield f"src/{folder}: not a folder of the table"
                    continue
                for number, bracket, name in includes(path):
                    allowed = [folder, "espalier", *table[folder], *LIBRARIES]
                    if path.stem.endswith("_test"):
                        allowed.append("support")  # tests/support
                    if bracket == '"' and name.split("/")[0] not in allowed:
                        yield f"{self.place(path, number)}: {folder} may not include {name}"
        self.check(culprits())

    def test_the_folder_table_has_no_cycles(self):
        open_folders, table = {"support"}, may_include()
        while ready := [f for f in table if f not in open_folders and open_folders.issuperset(table[f])]:
            open_folders.update(ready)
        self.check(f"src/{folder}: includes itself through others" for folder in table
                   if folder not in open_folders)

    def test_a_layer_does_not_see_csv(self):
        self.check(f"{path.relative_to(ROOT)}: sees espalier/{name}"
                   for folder, allowed in MAY_SEE.items() for path in files(f"src/{folder}")
                   for name in sorted(seen_headers(path) - set(allowed)))

    def test_public_headers_need_only_each_other(self):
        self.check(f"{self.place(path, number)}: a public header includes {name}"
                   for path in files("include") for number, bracket, name in includes(path)
                   if (bracket == '"' or "/" in name) and not name.startswith("espalier/"))

    def test_the_program_and_the_bindings_see_only_the_public_headers(self):
        def allowed(front, libraries, bracket, name):
            folder, slash, _ = name.partition("/")
            if slash:
                return folder in ("sys", "espalier", *libraries)
            return bracket == "<" or (ROOT / front / name).exists()
        self.check(f"{self.place(path, number)}: {front} may not include {name}"
                   for front, libraries in (("cli", CLI_LIBRARIES), ("python", PYTHON_LIBRARIES))
                   for path in files(front) for number, bracket, name in includes(path)
                   if not allowed(front, libraries, bracket, name))

    def test_only_the_model_folder_casts_by_the_kind_of_a_layer(self):
        self.check(f"{self.place(path, number)}: {match[0]}"
                   for path in files("src", "cli", "python") if path.parent != ROOT / "src/model"
                   for number, line in code_lines(path) if (match := LAYER_CAST.search(line)))

    def test_the_library_never_prints_exits_or_aborts(self):
        self.check(f"{self.place(path, number)}: {match[0]}"
                   for path in files("src", "include") if not path.stem.endswith("_test")
                   for number, line in code_lines(path) if (match := NOISE.search(line)))

    def test_files_open_with_their_license(self):
        def opening(path):
            lines = path.read_text().splitlines() + ["", ""]
            return lines[1] if lines[0].startswith("#!") else lines[0]
        self.check(f"{path.relative_to(ROOT)}: does not open with the SPDX line"
                   for path in tree(CODE)
                   if "SPDX-License-Identifier: Apache-2.0" not in opening(path))

    def test_sources_are_listed_in_cmake(self):
        def listed(cmake):
            return set(re.findall(r"[\w/]+\.cc", (ROOT / cmake).read_text()))
        main, tests = listed("CMakeLists.txt"), listed("tests/CMakeLists.txt")
        python = {f"python/{name}" for name in listed("python/CMakeLists.txt")}
        def culprits():
            for path in files("src", "cli", "python", "tests", suffixes=(".cc",)):
                name = str(path.relative_to(ROOT))
                if path.stem.endswith("_test"):
                    known = re.sub("^(src|tests)/", "", name) in tests
                else:
                    known = name in main | python or name.startswith("tests/")
                if not known:
                    yield f"{name}: not listed in CMake"
        self.check(culprits())

    def test_the_changelog_knows_the_version(self):
        header, changelog = ((ROOT / p).read_text()
                             for p in ("include/espalier/version.h", "CHANGELOG.md"))
        version = re.search(r'kVersion = "(.+)"', header)[1]
        newest = re.search(r"^## \[(\d.*?)\]", changelog, re.MULTILINE)[1]
        self.assertEqual(newest, version, f"CHANGELOG.md: {newest}, version.h: {version}")

    def test_the_folder_map_is_true(self):
        named = folder_map((ROOT / "CONTRIBUTING.md").read_text())
        real = {f"src/{p.name}/" for p in (ROOT / "src").iterdir() if any(p.iterdir())}
        self.check(["CONTRIBUTING.md: no folder map"] if not named else
                   [f"CONTRIBUTING.md: there is no {name}" for name in sorted(named)
                    if not (ROOT / name).is_dir()] +
                   [f"CONTRIBUTING.md: the map lacks {name}" for name in sorted(real - named)])

    def test_the_readme_is_short(self):
        count = len((ROOT / "README.md").read_text().splitlines())
        self.assertLessEqual(count, 150, f"README.md: {count} lines")

    def test_lines_are_at_most_100_columns(self):
        code = [*files("include", "src", "cli", "python", "tests", "bench", suffixes=(".h", ".cc", ".c")),
                *files("python", "examples", suffixes=(".py", ".pyi"))]
        self.check(f"{self.place(path, number)}: {len(line)} columns"
                   for path in code if "golden" not in path.parts
                   for number, line in enumerate(path.read_text().splitlines(), 1)
                   if len(line) > 100)

    def test_no_file_names_a_place_on_one_machine(self):
        self.check(f"{self.place(path, number)}: {line.strip()}"
                   for path in tree(TEXT)
                   for number, line in enumerate(path.read_text().splitlines(), 1)
                   if MACHINE_PATH.search(line))


def folder_map(text):
    """The folders that open the lines of the map, the section of CONTRIBUTING.md that lists folders.
    An indented one lies in the last one that is not indented."""
    section = re.search(r"^#+ [^\n]*\b(folders|map)\b[^\n]*\n(.*?)(?=^#+ |\Z)", text,
                        re.IGNORECASE | re.MULTILINE | re.DOTALL)
    named, parent = set(), ""
    for line in (section[2] if section else "").splitlines():
        if match := re.match(r"([ |*`-]*)([\w./-]+/)(?=[\s`|]|$)", line):
            indented = line.startswith(" ")
            named.add(parent + match[2] if indented else match[2])
            parent = parent if indented else match[2]
    return named


if __name__ == "__main__":
    unittest.main()
