# SPDX-License-Identifier: Apache-2.0
"""Python and the command line give the same numbers, whatever options a model records."""
import io
import json
import re
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import espalier

ROWS = 160


def run(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def spoiled(draw, cells, share, words):
    """The cells, some of them replaced by one of the words."""
    return [str(draw.choice(words)) if draw.random() < share else str(cell) for cell in cells]


def label_of(draw, kind, x):
    """The cells of a label, and the flags that it takes."""
    if kind in ("classes", "grades"):
        words = np.array(["no", "NA", "yes"])[np.digitize(x + draw.normal(0, 5, ROWS), [25, 75])]
        return spoiled(draw, words, 0.1, ["undecided"]), [
            "--not-missing", "label=NA", "--missing", "label=undecided",
            *(["--grades", "no<NA<yes"] if kind == "grades" else [])]
    if kind == "two classes":
        words = np.where(x + draw.normal(0, 20, ROWS) > 50, "yes", "no")
        return spoiled(draw, words, 0.1, ["null", "undecided"]), [
            "--missing", "label=undecided", "--class-weight", "balanced"]
    if kind == "counts":
        return spoiled(draw, draw.poisson(0.2 + x / 50), 0.1, ["-9"]), [
            "--loss", "poisson", "--exposure", "years", "--missing", "label=-9"]
    if kind == "quantiles":
        return spoiled(draw, (x + draw.normal(0, 9, ROWS)).round(2), 0.1, ["-9", "?"]), [
            "--quantile", "0.1,0.5,0.9", "--missing", "label=-9.0"]
    return spoiled(draw, (x + draw.normal(0, 9, ROWS)).round(2), 0.1, ["none"]), [
        "--missing", "label=none"]


def drawn_file(draw, flags, has_directions):
    """Columns of text with many ways to say that a cell is missing, and the flags for some of them:
    of a number, of words, of whole numbers that are categories, and of words with an order."""
    x = draw.uniform(0, 100, ROWS).round(1)
    number_words = [w for w in ("-1", "999", "unknown", "-") if draw.random() < 0.5]
    word_words = [w for w in ("none", "other", "NULL") if draw.random() < 0.5]
    code_words = [w for w in ("9", "98.0", "x") if draw.random() < 0.5]
    kept = [w for w in ("NA", "?", "n/a") if draw.random() < 0.5]
    columns = {
        "x": spoiled(draw, x, 0.2, [*number_words, ""]),
        "plain": draw.normal(0, 1, ROWS).astype(np.float32).tolist(),
        "word": spoiled(draw, draw.choice(["red", "blue", "NA", "?", "n/a"], ROWS), 0.2,
                        [*word_words, "null", ""]),
        "code": spoiled(draw, draw.integers(1, 6, ROWS), 0.2, [*code_words, ""]),
        "size": spoiled(draw, draw.choice(["S", "M", "L", "none"], ROWS), 0.1, ["", "NaN"]),
        "years": draw.uniform(0.1, 2, ROWS).round(2),
        "base": draw.normal(0, 0.1, ROWS).round(3),
        "mass": draw.integers(1, 4, ROWS),
    }
    for name, words in (("x", number_words), ("word", word_words), ("code", code_words)):
        flags += [part for word in words for part in ("--missing", f"{name}={word}")]
    flags += [part for word in kept for part in ("--not-missing", f"word={word}")]
    if draw.random() < 0.5:
        flags += ["--missing", "none"]  # in every column
    else:
        flags += ["--order", "size=S<M<none<L"]
        flags += ["--increasing", "size"] if has_directions else []
    if has_directions and draw.random() < 0.5:
        flags += ["--increasing", "x"]
    if draw.random() < 0.5:
        flags += ["--weight", "mass"]
    if draw.random() < 0.5:
        flags += ["--max-categories", 3]
    return columns, x


def frames_of(text):
    """The cells of a file in every container, numbers where all cells of a column are."""
    plain = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[])
    yield "pandas", plain
    yield "pandas strings", pd.read_csv(io.StringIO(text), keep_default_na=False, dtype=str)

    def value_of(cell):
        try:
            return None if cell == "" else float(cell)
        except ValueError:
            return cell

    mixed = plain.astype(str).map(value_of).astype(object)
    yield "pandas objects", mixed.assign(code=plain["code"])
    yield "polars", pl.from_pandas(plain)
    yield "pyarrow", pa.Table.from_pandas(plain)
    yield "a dictionary", {name: plain[name].to_numpy() for name in plain}


def data_of(page):
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    del data["table"]  # the name of the file, or X
    return data


KINDS = ["classes", "grades", "two classes", "counts", "quantiles", "numbers"]


@pytest.mark.filterwarnings("ignore::espalier.Warning")
@pytest.mark.parametrize("seed", range(12))
def test_both_agree_to_the_bit_for_options_drawn_at_random(program, tmp_path, seed):
    draw = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    flags = ["--label", "label", "--epochs", 1, "--quiet", "--categorical", "code", "--trees", 0,
             "--ensemble", 1, "--interactions", "none", "--architecture",
             f"cal(4) lin(2) {'lin(3)' if kind == 'classes' else 'lat'}"]
    columns, x = drawn_file(draw, flags, kind != "classes")
    columns["label"], of_label = label_of(draw, kind, x)
    if kind not in ("classes", "counts") and draw.random() < 0.5:
        flags += ["--offset", "base"]
    text = pd.DataFrame(columns).to_csv(index=False)
    (tmp_path / "rows.csv").write_text(text)
    run(program, "train", tmp_path / "rows.csv", "-o", tmp_path / "m.esp", *flags, *of_label)
    model = espalier.load(tmp_path / "m.esp")
    both = tmp_path / "m.esp", tmp_path / "rows.csv"
    printed = {raw: json.loads(run(program, "predict", *both, "--json", *raw))
               for raw in ((), ("--raw",))}
    explained = json.loads(run(program, "explain", *both, "--json"))["explanations"]
    worth = json.loads(run(program, "importance", *both, "--json", "--repeats", 2,
                           "--shared-rows", 30))
    run(program, "report", *both, "-o", tmp_path / "wanted.html", "--pairs", 100)
    wanted = data_of((tmp_path / "wanted.html").read_text())
    for name, frame in frames_of(text):
        for raw, key in ((("--raw",), "scores"), ((), "predictions")):
            numbers = printed[raw][key]
            if isinstance(numbers, dict):
                prefix = "score_" if raw else ""
                numbers = np.transpose([numbers[prefix + own] for own in model.outputs])
            found = model.predict(frame, output="score" if raw else "prediction")
            np.testing.assert_array_equal(found, np.array(numbers, np.float32), err_msg=name)
        found = model.explain(frame)
        np.testing.assert_array_equal(np.float32(found.shares), np.float32(
            [list(row["shares"].values()) for row in explained]), err_msg=name)
        labels = frame["label"]
        found = model.importance(frame, labels, repeats=2, rows=30)
        assert found.value == worth["value"], name
        for part in ("loss", "move", "share"):
            assert getattr(found, part).tolist() == [
                column[part]["mean"] for column in worth["columns"]], (name, part)
        model.report(frame, path=tmp_path / "found.html", pairs=100)
        assert data_of((tmp_path / "found.html").read_text()) == wanted, name


def test_numbers_that_mean_missing_do_so_in_arrays(program, tmp_path):
    draw = np.random.default_rng(1)
    x = draw.choice([-1, 0.1, 0.5, 96, 7], (200, 2))
    table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] + x[:, 1]})
    table.to_csv(tmp_path / "rows.csv", index=False)
    run(program, "train", tmp_path / "rows.csv", "--label", "y", "--missing", "a=96", "--missing",
        "b=0.1", "--epochs", 1, "--quiet", "-o", tmp_path / "m.esp")
    model = espalier.load(tmp_path / "m.esp")
    printed = run(program, "predict", tmp_path / "m.esp", tmp_path / "rows.csv").split()[1:]
    wanted = np.array(printed, dtype=np.float32)
    plain = np.ascontiguousarray(table[["a", "b"]].to_numpy())
    for array in (plain, np.asfortranarray(plain), plain.astype(np.float32), plain.astype(object)):
        before = array.copy()
        np.testing.assert_array_equal(model.predict(array), wanted)
        np.testing.assert_array_equal(array, before)
    rows = model.rows(plain)
    assert np.isnan(rows[plain[:, 0] == 96, 0]).all()
    assert not np.isnan(rows[plain[:, 0] == 7, 0]).any()
    np.testing.assert_array_equal(model.predict(rows), wanted)


def test_a_word_in_a_column_of_numbers_is_named(program, tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n2,3\n3,5\n4,6\n")
    run(program, "train", tmp_path / "rows.csv", "--label", "y", "--epochs", 1, "--quiet", "-o",
        tmp_path / "m.esp")
    model = espalier.load(tmp_path / "m.esp")
    with pytest.raises(espalier.Error, match="X: column 'a': 'many' is not a number"):
        model.predict(pd.DataFrame({"a": ["1", "many"]}))
    assert model.predict(pd.DataFrame({"a": ["1", "2.0"]})).tolist() == model.predict(
        pd.DataFrame({"a": [1, 2]})).tolist()
