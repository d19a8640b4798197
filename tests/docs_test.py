#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The commands of pages print what the pages say.
#
#   docs_test.py PROGRAM PAGE ...             # compares
#   docs_test.py --update PROGRAM PAGE ...    # writes what the commands print into the pages
#
# All `sh` blocks of a page run in order in one new folder, with PROGRAM as `espalier`. An unlabeled
# block that follows an `sh` block, with at most one paragraph between them, is the output, standard
# error included. An `sh` block without one must succeed. In an output block, `...` stands for any
# text, on a line of its own for any number of lines; a number before ` s` stands for any number of
# seconds; blank lines do not count. --update keeps what the block leaves out.
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\b\d+(?:\.\d+)?(?= s\b)")
SHARE_OF_TIME = re.compile(r"\b\d+(?= % of it)|\b\d+(?= % to)")
SKIPPED = "..."


class Example(NamedTuple):
    line: int  # of the command in the page
    command: str
    output: re.Match | None


def examples_of(page):
    """The examples of a page's text."""
    blocks = list(BLOCK.finditer(page))
    found = []
    for block, following in zip(blocks, [*blocks[1:], None]):
        if block["language"] != "sh":
            continue
        between = page[block.end():following.start()].strip() if following else "\n\n"
        is_output = following and not following["language"] and "\n\n" not in between
        found.append(Example(page[:block.start()].count("\n") + 2, block["text"],
                             following if is_output else None))
    return found


def lines_of(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def line_pattern(line):
    """A regular expression for the lines that a line of the page stands for."""
    pieces = [SHARE_OF_TIME.sub("\0", SECONDS.sub("\0", piece)) for piece in line.split(SKIPPED)]
    return ".*".join(re.escape(piece).replace("\0", r"\d+(?:\.\d+)?") for piece in pieces)


def is_printed(wanted, printed):
    """Whether the lines of a page stand for the lines that were printed."""
    pattern = "".join(r"(?:.*\n)*?" if line == SKIPPED else line_pattern(line) + r"\n"
                      for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def likeness(wanted, printed):
    return sum(difflib.SequenceMatcher(None, old, new, autojunk=False).ratio()
               for old, new in zip(wanted, printed))


def segments_of(wanted):
    """The runs of lines between the skipped ones, the first and the last possibly empty."""
    segments = [[]]
    for line in wanted:
        if line == SKIPPED:
            segments.append([])
        else:
            segments[-1].append(line)
    return segments


def shortened(old, new):
    """A printed line with as many words left out as in the line that it replaces."""
    if SKIPPED not in old or re.fullmatch(line_pattern(old), new):
        return old if re.fullmatch(line_pattern(old), new) else new
    before, _, after = old.partition(SKIPPED)
    words = re.findall(r"\s*\S+", new)
    first, last = len(before.split()), len(after.split())
    return "".join(words[:first]) + before[len(before.rstrip()):] + SKIPPED + "".join(
        words[len(words) - last:] if last else [])


def updated(wanted, printed):
    """The printed lines, with as much left out as in the lines of the page."""
    *segments, ending = segments_of(wanted)
    if not segments:
        return printed
    lines, first = [], 0
    end = len(printed) - len(ending)
    for number, segment in enumerate(segments):
        starts = range(first, end - len(segment) + 1) if number else [0]
        best = max(starts, default=first,
                   key=lambda start: likeness(segment, printed[start:start + len(segment)]))
        lines += [*map(shortened, segment, printed[best:best + len(segment)]), SKIPPED]
        first = best + len(segment)
    return lines + list(map(shortened, ending, printed[end:]))


def with_blanks(text, lines):
    """The lines with the blank lines of the text between them, where their number is the same."""
    if len(lines_of(text)) != len(lines):
        return lines
    rest = iter(lines)
    return [next(rest) if line.strip() else "" for line in text.splitlines()]


def run(command, folder, path, must_succeed):
    """What a command prints; its failure as the last line, where it must succeed."""
    done = subprocess.run(["bash", "-ec" if must_succeed else "-c", command], cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "PATH": path})
    failure = f"(exit code {done.returncode})\n"
    return done.stdout + (failure if must_succeed and done.returncode else "")


def check(page, program, update):
    """The differences of a page, as text; with `update` the page is written instead."""
    text = page.read_text()
    changes, differences = [], []
    with tempfile.TemporaryDirectory() as scratch:
        binaries, folder = Path(scratch) / "bin", Path(scratch) / "run"
        binaries.mkdir()
        folder.mkdir()
        (binaries / "espalier").symlink_to(program)
        path = f"{binaries}:{os.environ['PATH']}"
        for line, command, output in examples_of(text):
            printed = lines_of(run(command, folder, path, output is None))
            wanted = lines_of(output["text"]) if output else printed[:0]
            failed = not output and any(each.startswith("(exit code") for each in printed)
            if output and not is_printed(wanted, printed):
                new = with_blanks(output["text"], updated(wanted, printed))
                changes.append((output.span("text"), "".join(each + "\n" for each in new)))
            if failed or (output and not is_printed(wanted, printed)):
                difference = "\n".join(difflib.unified_diff(wanted, printed, "page", "printed",
                                                            lineterm="", n=1))
                differences.append(f"{page}:{line}: {command.splitlines()[0]}\n{difference}")
    if update:
        for (first, last), new in reversed(changes):
            text = text[:first] + new + text[last:]
        page.write_text(text)
    return differences


def main():
    parser = argparse.ArgumentParser(description="Runs the commands of pages.")
    parser.add_argument("--update", action="store_true",
                        help="write what the commands print into the pages")
    parser.add_argument("program", type=Path)
    parser.add_argument("pages", type=Path, nargs="+")
    args = parser.parse_args()
    differences = [each for page in args.pages
                   for each in check(page, args.program.resolve(), args.update)]
    print("\n\n".join(differences))
    if differences and not args.update:
        sys.exit("To write what the commands print into the pages: make docs-outputs.")


if __name__ == "__main__":
    main()
