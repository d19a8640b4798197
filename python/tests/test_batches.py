# SPDX-License-Identifier: Apache-2.0
"""Rows that come in batches: the model of the same rows in memory, byte for byte."""
import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import espalier
from conftest import DIRECTIONS
from espalier._batches import frames_of

ROWS = 240


@pytest.fixture(autouse=True)
def no_scratch_left(tmp_path, monkeypatch):
    """Nothing is left in the folder for temporary files."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    yield
    assert list(scratch.iterdir()) == []


def table_of(label):
    """Columns of every kind, some cells missing, and a label."""
    draw = np.random.default_rng(1)
    x = draw.uniform(size=ROWS)
    sizes = pd.Categorical(draw.choice(["S", "M", "L"], ROWS), ["S", "M", "L"], ordered=True)
    table = pd.DataFrame({
        "x": x, "single": x.astype(np.float32) ** 2, "whole": draw.integers(0, 50, ROWS),
        "close": 16777216 + draw.integers(0, 3, ROWS), "flag": draw.uniform(size=ROWS) < 0.5,
        "gap": np.where(draw.uniform(size=ROWS) < 0.1, np.nan, x), "size": sizes,
        "word": np.where(np.arange(ROWS) > 200, "late", draw.choice(["a", "NA", "b"], ROWS)),
        "code": draw.choice([7, 11, 100000], ROWS)})
    return table.assign(y=label(x + 0.1 * draw.normal(size=ROWS)))


LABELS = {
    "words": (espalier.MonotonicClassifier, {}, lambda z: np.where(z > 0.5, "yes", "no")),
    "missing words": (espalier.MonotonicClassifier, {}, lambda z: np.where(z > 0.5, "Null", "A")),
    "booleans": (espalier.MonotonicClassifier, {}, lambda z: z > 0.5),
    "0 and 1": (espalier.MonotonicClassifier, {}, lambda z: (z > 0.5).astype(int)),
    "classes": (espalier.MonotonicClassifier, {"monotonic_cst": {}},
                lambda z: np.array(["red", "green", "blue"])[np.clip(3 * z, 0, 2).astype(int)]),
    "numbered classes": (espalier.MonotonicClassifier, {"monotonic_cst": {}},
                         lambda z: np.clip(3 * z, 0, 2).astype(int)),
    "grades": (espalier.MonotonicClassifier, {"grades": ["bad", "fair", "good"]},
               lambda z: np.array(["bad", "fair", "good"])[np.clip(3 * z, 0, 2).astype(int)]),
    "ordered": (espalier.MonotonicClassifier, {}, lambda z: pd.Categorical.from_codes(
        np.clip(3 * z, 0, 2).astype(int), ["bad", "fair", "good"], ordered=True)),
    "numbers": (espalier.MonotonicRegressor, {}, lambda z: z),
    "two numbers": (espalier.MonotonicRegressor, {}, lambda z: np.where(z > 0.5, 1.5, 2.5)),
    "close numbers": (espalier.MonotonicRegressor, {},
                      lambda z: 16777216 + np.round(9 * z).astype(int)),
    "quantiles": (espalier.MonotonicRegressor, {"quantile": [0.1, 0.9]}, lambda z: z),
    "counts": (espalier.MonotonicRegressor, {"loss": "poisson"},
               lambda z: np.clip(np.round(3 * z), 0, 9)),
}


@pytest.mark.filterwarnings("ignore::espalier.Warning")
@pytest.mark.parametrize("kind", LABELS)
def test_batches_give_the_model_of_memory_for_every_kind_of_label(kind, tmp_path):
    estimator, params, label = LABELS[kind]
    table = table_of(label)
    params = {"monotonic_cst": {"x": 1}, "categorical_features": ["code", "flag"],
              "not_missing": {"word": ["NA"]}, "epochs": 1, "architecture": "dln(4x3)", **params}
    X, y = table.drop(columns="y"), table["y"]
    wanted = estimator(**params).fit(X, y)
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), tmp_path / "t.parquet",
                   row_group_size=70)
    found = estimator(**params).fit(tmp_path / "t.parquet", "y")
    assert found.model_.to_bytes() == wanted.model_.to_bytes()
    assert found.feature_names_in_.tolist() == list(X)
    np.testing.assert_array_equal(found.feature_importances_, wanted.feature_importances_)
    if hasattr(wanted, "classes_"):
        np.testing.assert_array_equal(found.classes_, wanted.classes_)
        np.testing.assert_array_equal(found.predict(X), wanted.predict(X))


def loan_sources(loans, folder):
    """The same rows in every form that comes in batches, by name."""
    table = pa.Table.from_pandas(loans, preserve_index=False)
    (folder / "parts").mkdir()
    for i in range(3):
        pq.write_table(table.slice(200 * i, 200), folder / "parts" / f"{i}.parquet")
    parts = [loans[i:i + 77] for i in range(0, len(loans), 77)]
    yield "folder", folder / "parts"
    yield "dataset", ds.dataset(folder / "parts")
    yield "scanner", ds.dataset(folder / "parts").scanner(batch_size=90)
    yield "an open file", pq.ParquetFile(folder / "parts" / "0.parquet")
    yield "reader", table.to_reader(max_chunksize=101)
    yield "table", table
    yield "batches", table.to_batches(max_chunksize=64)
    yield "iterator", iter(table.to_batches(max_chunksize=64))
    yield "frames", iter(parts)
    yield "polars", [pl.from_pandas(part) for part in parts]
    yield "dictionaries", [part.to_dict("series") for part in parts]
    yield "frame", loans


def test_every_source_of_batches_gives_the_same_model(loans, tmp_path):
    def fit(X, y):
        return espalier.MonotonicClassifier(monotonic_cst=DIRECTIONS, epochs=1).fit(X, y).model_

    wanted = fit(loans.drop(columns="default"), loans["default"])
    first = fit(loans[:200].drop(columns="default"), loans["default"][:200])
    for name, source in loan_sources(loans, tmp_path):
        model = first if name == "an open file" else wanted
        assert fit(source, "default").hash == model.hash, name


def test_batches_are_predicted_as_the_whole(fitted, loans, tmp_path):
    wanted = fitted.model_.predict(loans)
    for name, source in loan_sources(loans, tmp_path):
        found = list(fitted.model_.predict_batches(source))
        rows = 200 if name == "an open file" else len(loans)
        np.testing.assert_array_equal(np.concatenate(found), wanted[:rows], err_msg=name)


def test_weights_offsets_and_validation_rows_are_columns(tmp_path):
    draw = np.random.default_rng(3)
    table = pd.DataFrame(draw.uniform(size=(300, 5)), columns=["a", "b", "w", "o", "e"])
    table["y"] = draw.poisson(3 * table["a"] * (table["e"] + 0.5))
    table["e"] += 0.5
    train, valid = table[:200], table[200:]
    params = {"monotonic_cst": {"a": 1}, "loss": "poisson", "epochs": 2}
    wanted = espalier.MonotonicRegressor(**params).fit(
        train[["a", "b"]], train["y"], train["w"], exposure=train["e"], offset=train["o"],
        eval_set={"X": valid[["a", "b"]], "y": valid["y"], "sample_weight": valid["w"],
                  "exposure": valid["e"], "offset": valid["o"]})
    train.to_parquet(tmp_path / "train.parquet")
    valid.to_parquet(tmp_path / "valid.parquet")  # with its index, which is no feature
    found = espalier.MonotonicRegressor(**params).fit(
        tmp_path / "train.parquet", "y", "w", exposure="e", offset="o",
        eval_set=(tmp_path / "valid.parquet", "y"))
    assert found.model_.to_bytes() == wanted.model_.to_bytes()


def test_a_cache_is_used_until_the_files_change(loans, tmp_path):
    def fit():
        return espalier.MonotonicClassifier(epochs=1).fit(
            tmp_path / "t.parquet", "default", cache=tmp_path / "cache").model_.hash

    def entries():
        return {str(path.relative_to(tmp_path)): path.stat().st_mtime_ns
                for path in (tmp_path / "cache").rglob("*")}

    loans.to_parquet(tmp_path / "t.parquet")
    first = fit()
    kept = entries()
    assert len(kept) > 5
    assert fit() == first
    assert entries() == kept
    loans[:500].to_parquet(tmp_path / "t.parquet")
    assert fit() != first
    assert entries().keys() == kept.keys() and entries() != kept


def test_memory_changes_no_byte_and_what_is_too_little_is_said_before_the_first_step(
        loans, tmp_path):
    loans.to_parquet(tmp_path / "t.parquet")
    wanted = espalier.MonotonicClassifier(epochs=1).fit(tmp_path / "t.parquet", "default")
    for memory in ("512M", 1 << 29, np.int64(1 << 29)):
        found = espalier.MonotonicClassifier(epochs=1).fit(tmp_path / "t.parquet", "default",
                                                           memory=memory)
        assert found.model_.to_bytes() == wanted.model_.to_bytes()
    told = []
    large = espalier.MonotonicClassifier(architecture="cal(50) lin(20000) lat(5000x4) lin(1)")
    with pytest.raises(espalier.Error, match="memory: 32 MB are allowed, but training takes"):
        large.fit(tmp_path / "t.parquet", "default", memory="32M", callback=told.append)
    assert told == [] and not hasattr(large, "model_")
    for memory in ("2GB", "1M", -1, 2.5, True, b"1G"):
        with pytest.raises(espalier.Error, match="^memory: .* is not a size of at least 32M"):
            large.fit(tmp_path / "t.parquet", "default", memory=memory)
    with pytest.raises(espalier.Error, match="^memory: only batches are trained on from disk"):
        large.fit(loans.drop(columns="default"), loans["default"], memory="1G")


def test_batches_of_little_memory_have_few_rows(loans, tmp_path):
    loans.to_parquet(tmp_path / "t.parquet")
    for X in (tmp_path / "t.parquet", ds.dataset(tmp_path / "t.parquet"),
              pq.ParquetFile(tmp_path / "t.parquet")):
        rows = [len(frame) for frame in frames_of(X, "X", 1 << 20)]
        assert sum(rows) == len(loans) and max(rows) <= (1 << 20) // (256 * 16 * loans.shape[1])


def test_what_is_wrong_with_batches_is_said_and_nothing_is_left(loans, tmp_path):
    risk = espalier.MonotonicClassifier(epochs=1)
    good = pa.Table.from_pandas(loans, preserve_index=False)

    def refused(match, X, y="default", **options):
        with pytest.raises(espalier.Error, match=match):
            risk.fit(X, y, **options)
        assert not hasattr(risk, "model_")

    def folder(name, *tables):
        (tmp_path / name).mkdir()
        for i, table in enumerate(tables):
            pq.write_table(table, tmp_path / name / f"{i}.parquet")
        return tmp_path / name

    refused("X has no column 'defualt'; did you mean 'default'", good, "defualt")
    refused("sample_weight: wanted the name of a column", good, sample_weight=np.ones(600))
    refused("cannot read .*nowhere.parquet", tmp_path / "nowhere.parquet")
    refused("has no Parquet files", folder("none"))
    refused("1.parquet: its columns are others than those of .*0.parquet",
            folder("other", good, good.drop_columns("income")))
    refused("1.parquet: there are no rows", folder("empty", good, good.slice(0, 0)))
    refused("there are no rows", iter([]))
    refused("batch 2: its columns are others than those before: column 'income' has words",
            iter([loans, loans.assign(income="much")]))
    refused("Input y contains NaN", [loans, loans.assign(default=None)])
    refused("infinity", [loans, loans.assign(income=np.inf)])
    refused("int is no batch", iter([1]))
    refused("does not come in batches", 17)
    risk.set_params(class_weight={"yes": 2.0})
    refused("class_weight: a dictionary does not suit", good)


def test_files_that_change_while_they_are_read_are_refused(loans, tmp_path):
    loans.to_parquet(tmp_path / "t.parquet")
    batches = espalier._batches.Batches(tmp_path / "t.parquet", "X")
    os.utime(tmp_path / "t.parquet", ns=(1, 1))
    with pytest.raises(espalier.Error, match="t.parquet: changed while it was read"):
        batches.store(os.fsencode(tmp_path), True, lambda name, index: False, {}, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scratch", "t.parquet"]


def test_memory_does_not_grow_with_the_rows(tmp_path):
    batch = pa.table({"x": np.arange(1 << 16, dtype=np.float32), "z": np.arange(1 << 16) % 97.0})
    batch = batch.append_column("y", pa.array(np.arange(1 << 16) % 2))

    def most(count):
        """The most anonymous memory while so many batches are written."""
        before = pa.total_allocated_bytes()
        writer = espalier._core.TableWriter("t", os.fsencode(tmp_path), False, b"")
        for _ in range(count):
            writer.add(espalier._tables.read_table(batch, "X", lambda name, index: False).table)
        with open("/proc/self/status") as status:
            used = next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
        assert pa.total_allocated_bytes() == before
        return used

    most(4)
    assert most(120) - most(10) < 8 << 10  # kilobytes; the rows are 110 MB
