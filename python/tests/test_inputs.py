# SPDX-License-Identifier: Apache-2.0
"""Every container of the same cells gives the same model, and the same predictions."""
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import espalier
from espalier._tables import read_table

NUMBERS = np.random.default_rng(1).uniform(size=(300, 4)).astype(np.float32)
NUMBERS[::7, 2] = np.nan
LABELS = NUMBERS[:, 0] - NUMBERS[:, 1] ** 2
NAMES = ["a", "b", "c", "d"]


def fit(X, y=LABELS, **params):
    return espalier.MonotonicRegressor(epochs=1, **params).fit(X, y)


ARRAYS = {
    "float32 in C order": NUMBERS,
    "float32 in Fortran order": np.asfortranarray(NUMBERS),
    "float32 with gaps": np.repeat(NUMBERS, 2, axis=1)[:, ::2],
    "float64 in C order": NUMBERS.astype(np.float64),
    "float64 in Fortran order": np.asfortranarray(NUMBERS.astype(np.float64)),
    "lists": NUMBERS.tolist(),
    "objects with None": np.where(np.isnan(NUMBERS), None, NUMBERS.astype(object)),
}


@pytest.mark.parametrize("X", ARRAYS.values(), ids=ARRAYS)
def test_arrays_of_the_same_numbers_give_the_same_model(X):
    wanted, found = fit(NUMBERS), fit(X)
    assert found.model_.to_bytes() == wanted.model_.to_bytes()
    np.testing.assert_array_equal(found.predict(X), wanted.predict(NUMBERS))


def in_two_chunks(table):
    return pa.concat_tables([table.slice(0, 100), table.slice(100)])


class OnlyAStream:
    """What has no more than the Arrow stream interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


PANDAS = pd.DataFrame(NUMBERS, columns=NAMES)
AFTER_OTHERS = pa.Table.from_pandas(pd.concat([PANDAS + 1, PANDAS]), preserve_index=False)
FRAMES = {
    "pandas float64": PANDAS.astype(np.float64),
    "pandas Float64": PANDAS.astype("Float64"),
    "pandas objects": PANDAS.astype(object),
    "polars": pl.DataFrame(NUMBERS, schema=NAMES),
    "polars with nulls": pl.DataFrame(NUMBERS, schema=NAMES).fill_nan(None),
    "polars float64": pl.DataFrame(NUMBERS.astype(np.float64), schema=NAMES),
    "pyarrow": pa.Table.from_pandas(PANDAS),
    "pyarrow in chunks": in_two_chunks(pa.Table.from_pandas(PANDAS)),
    "a slice of pyarrow": AFTER_OTHERS.slice(300),
    "a slice of structs": pa.chunked_array(
        [pa.concat_arrays(AFTER_OTHERS.to_struct_array().chunks).slice(300)]),
    "an Arrow stream": OnlyAStream(pa.Table.from_pandas(PANDAS)),
    "a dictionary": {name: NUMBERS[:, i] for i, name in enumerate(NAMES)},
}


@pytest.mark.parametrize("X", FRAMES.values(), ids=FRAMES)
def test_frames_of_the_same_numbers_give_the_same_model(X):
    wanted, found = fit(PANDAS), fit(X)
    assert found.model_.to_bytes() == wanted.model_.to_bytes()
    assert found.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(found.predict(X), wanted.predict(PANDAS))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
                                   "uint64", "bool"])
def test_whole_numbers_of_every_width_are_read(dtype):
    X = np.random.default_rng(2).integers(0, 2, size=(200, 2))
    wanted = fit(X.astype(np.float32), X[:, 0]).model_.to_bytes()
    X = X.astype(dtype)
    names = ["x0", "x1"]
    assert fit(X, X[:, 0]).model_.to_bytes() == wanted
    assert fit(pd.DataFrame(X, columns=names), X[:, 0]).model_.to_bytes() == wanted
    assert fit(pl.DataFrame({"x0": X[:, 0], "x1": X[:, 1]}), X[:, 0]).model_.to_bytes() == wanted


def words_frame(rows=300):
    draw = np.random.default_rng(3)
    return pd.DataFrame({
        "city": draw.choice(["Paris", "a rather long name of a city", "Köln", "twelve-bytes",
                             "thirteen-byte", None], rows),
        "size": draw.choice(["S", "M", "L"], rows),
        "x": draw.uniform(size=rows)})


SIZES = ["S", "M", "L"]
WORDS = words_frame()
WORD_LABELS = WORDS["x"] + (WORDS["size"] == "L")
WORD_FRAMES = {
    "pandas strings": WORDS.astype({"city": "str"}),
    "pandas categories": WORDS.astype({"city": "category", "size": "category"}),
    "polars strings": pl.from_pandas(WORDS),
    "polars categories": pl.from_pandas(WORDS).with_columns(
        pl.col("city", "size").cast(pl.Categorical)),
    "pyarrow strings": pa.Table.from_pandas(WORDS),
    "pyarrow large strings": pa.Table.from_pandas(WORDS).cast(pa.schema(
        [("city", pa.large_string()), ("size", pa.large_string()), ("x", pa.float64())])),
    "pyarrow dictionaries": pa.Table.from_pandas(
        WORDS.astype({"city": "category", "size": "category"})),
    "pyarrow dictionaries in chunks": in_two_chunks(pa.Table.from_pandas(
        WORDS.astype({"city": "category", "size": "category"}))),
    "a dictionary": {name: WORDS[name].to_numpy() for name in WORDS},
    "an array of objects": None,
}


@pytest.mark.parametrize("kind", WORD_FRAMES)
def test_words_are_categories_in_every_frame(kind):
    wanted = fit(WORDS, WORD_LABELS)
    X = WORD_FRAMES[kind]
    if X is None:
        found = fit(WORDS.to_numpy(), WORD_LABELS, categorical_features=[0])
        assert [f["kind"] for f in found.model_.info["features"]] == [
            "category", "category", "number"]
        np.testing.assert_array_equal(found.predict(WORDS.to_numpy()), wanted.predict(WORDS))
        return
    found = fit(X, WORD_LABELS)
    assert found.model_.to_bytes() == wanted.model_.to_bytes()
    np.testing.assert_array_equal(found.predict(X), wanted.predict(WORDS))


def ordered_frames():
    pandas = WORDS.astype({"size": pd.CategoricalDtype(SIZES, ordered=True)})
    yield "pandas", pandas
    yield "polars", pl.from_pandas(WORDS).with_columns(pl.col("size").cast(pl.Enum(SIZES)))
    yield "pyarrow", pa.Table.from_pandas(pandas)


@pytest.mark.parametrize("X", [pytest.param(X, id=name) for name, X in ordered_frames()])
def test_ordered_categories_may_be_monotone(X):
    wanted = fit(WORDS, WORD_LABELS, order={"size": SIZES}, monotonic_cst={"size": 1})
    found = fit(X, WORD_LABELS, monotonic_cst={"size": "increasing"})
    assert found.model_.to_bytes() == wanted.model_.to_bytes()
    assert found.model_.verify(pairs=1000).increasing == ["size"]
    rows = words_frame(3).assign(size=SIZES, x=0.5, city="Paris")
    assert (np.diff(wanted.predict(rows)) >= 0).all()


def test_intervals_of_pandas_are_ordered_words():
    binned = WORDS.assign(x=pd.cut(WORDS["x"], 4))
    found = fit(binned, WORD_LABELS, monotonic_cst={"x": 1})
    assert found.model_.info["features"][2]["words"] == [str(i) for i in binned["x"].cat.categories]
    assert found.model_.verify(pairs=100).increasing == ["x"]
    np.testing.assert_array_equal(found.predict(binned), found.model_.predict(binned))


def test_orders_of_dtypes_and_of_the_parameter_add_up():
    dtype = pd.CategoricalDtype(sorted(WORDS["city"].dropna().unique()), ordered=True)
    found = fit(WORDS.astype({"city": dtype}), WORD_LABELS, order=["size=L<M<S"])
    assert [f["kind"] for f in found.model_.info["features"]] == ["ordered", "ordered", "number"]
    assert found.model_.info["features"][1]["words"] == ["L", "M", "S"]


def test_numbers_can_be_categories():
    X = np.random.default_rng(4).integers(0, 5, size=(200, 2))
    y = X[:, 0] == 3
    holes = X.astype(float)
    holes[::5, 0] = np.nan
    assert "" in fit(holes, y, categorical_features=[0]).model_.info["features"][0]["words"]
    frame = pd.DataFrame(X, columns=["x0", "x1"])
    for given, features in ((X, [0]), (X, [True, False]), (X.astype(float), ["x0"]),
                            (X.astype(np.float32), [0]), (frame, ["x0"]),
                            (pl.from_pandas(frame), ["x0"])):
        found = fit(given, y, categorical_features=features)
        first, second = found.model_.info["features"]
        assert first["kind"] == "category" and sorted(first["words"]) == list("01234")
        assert second["kind"] == "number"
        np.testing.assert_array_equal(found.predict(given), fit(
            X, y, categorical_features=[0]).predict(X))


CODES = {
    "whole floats": ([100000.0, 16777217.0, -2.0, 0.0, 1e15],
                     ["100000", "16777217", "-2", "0", "1000000000000000"]),
    "fractions": ([0.5, 0.1, 0.0001, 1e-05, -1234567.5, 123.456],
                  ["0.5", "0.1", "0.0001", "1e-05", "-1234567.5", "123.456"]),
    "float32": (np.array([0.1, 16777216, 1.5e-7], dtype=np.float32),
                ["0.1", "16777216", "1.5e-07"]),
    "whole numbers": ([1, -3, 100000, 2**53 + 1], ["1", "-3", "100000", "9007199254740993"]),
    "unsigned": (np.array([7, 2**63 + 5], dtype=np.uint64), ["7", "9223372036854775813"]),
    "booleans": ([True, False], ["True", "False"]),
    "NaN": ([1.0, 2.0, np.nan, -np.nan], ["1", "2", None, None]),
}
CODE_FRAMES = {
    "pandas": lambda codes: pd.DataFrame({"code": codes}),
    "pandas nullable": lambda codes: pd.DataFrame({"code": pd.Series(codes).convert_dtypes()}),
    "pandas objects": lambda codes: pd.DataFrame({"code": codes}, dtype=object),
    "pandas categories": lambda codes: pd.DataFrame({"code": codes}).astype("category"),
    "polars": lambda codes: pl.DataFrame({"code": codes}),
    "pyarrow": lambda codes: pa.table({"code": codes}),
    "pyarrow dictionaries": lambda codes: pa.table({"code": pa.array(codes).dictionary_encode()}),
    "a dictionary": lambda codes: {"code": codes},
}


@pytest.mark.parametrize("codes, words", CODES.values(), ids=CODES)
@pytest.mark.parametrize("frame", CODE_FRAMES.values(), ids=CODE_FRAMES)
def test_a_number_is_the_same_word_in_every_frame(frame, codes, words):
    y = np.arange(60 * len(words)) % len(words)
    X = frame(np.tile(codes, 60))
    same = pd.DataFrame({"code": words * 60})
    wanted, found = fit(same, y), fit(X, y, categorical_features=["code"])
    assert set(found.model_.info["features"][0]["words"]) == {word or "" for word in words}
    assert found.model_.to_bytes() == wanted.model_.to_bytes()
    np.testing.assert_array_equal(wanted.predict(X), wanted.predict(same))


def test_numbers_that_are_one_word_are_one_category():
    codes = np.tile([0.1, float(np.float32(0.1)), 3], 60)
    for frame in (pd.DataFrame({"code": codes}), pl.DataFrame({"code": codes})):
        found = fit(frame, codes, categorical_features=["code"])
        assert found.model_.info["features"][0]["words"] == ["0.1", "3"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_may_have_an_order(frame):
    X = frame({"level": np.tile([2, 1, 100000], 60)})
    order = ["1", "2", "100000"]
    found = fit(X, np.tile([2, 1, 3], 60), order={"level": order}, monotonic_cst={"level": 1})
    assert found.model_.info["features"][0]["words"] == order
    assert found.model_.rows(X)[:3, 0].tolist() == [1, 0, 2]


def test_a_word_that_training_never_saw_and_a_missing_one_are_predicted():
    found = fit(WORDS, WORD_LABELS)
    rows = pd.DataFrame({"city": ["Atlantis", None], "size": ["S", "S"], "x": [0.5, np.nan]})
    assert np.isfinite(found.predict(rows)).all()


def test_words_that_mean_missing_on_the_command_line_do_so_here():
    marked = WORDS.assign(city=WORDS["city"].fillna("N/A"))
    wanted, found = fit(WORDS, WORD_LABELS), fit(marked, WORD_LABELS)
    assert found.model_.to_bytes() == wanted.model_.to_bytes()


def is_borrowed(X, cell):
    """Whether the table that is made of X sees a later change of it."""
    table = read_table(X, "X", lambda name, index: False).table
    cell[...] = np.inf
    return table.infinite_column() is not None


def test_columns_in_one_piece_are_not_copied():
    fortran = np.zeros((10, 2), dtype=np.float32, order="F")
    assert is_borrowed(fortran, fortran[3, 1:])
    c_order = np.zeros((10, 2), dtype=np.float32)
    assert not is_borrowed(c_order, c_order[3, 1:])
    column = np.zeros(10, dtype=np.float32)
    assert is_borrowed({"a": column}, column[:1])
    fortran = np.zeros((10, 2), dtype=np.float32, order="F")
    assert is_borrowed(pd.DataFrame(fortran, columns=["a", "b"], copy=False), fortran[3, 1:])
    column = np.zeros(10, dtype=np.float32)
    assert is_borrowed(pa.table({"a": pa.Array.from_buffers(
        pa.float32(), 10, [None, pa.py_buffer(column)])}), column[:1])


def test_na_may_be_a_word_of_a_column():
    grades = ["NA", "Po", "TA", "Ex"]
    q = np.array(grades, dtype=object)[np.arange(200) % 4]
    frame = pd.DataFrame({"q": q, "x": np.arange(200) % 7})
    y = np.arange(200) % 4 + np.arange(200) % 7
    own = {"order": {"q": grades}, "monotonic_cst": {"q": 1}, "epochs": 2}
    with pytest.raises(espalier.Error, match="'NA' means a missing cell"):
        espalier.MonotonicRegressor(**own).fit(frame, y)
    steps = pd.DataFrame({"q": grades, "x": 3})
    for words in ("NA", ["NA"]):
        for X in (frame, pl.from_pandas(frame)):
            fitted = espalier.MonotonicRegressor(**own, not_missing={"q": words}).fit(X, y)
            assert fitted.model_.info["features"][0]["words"] == grades
            assert (np.diff(fitted.predict(steps)) >= 0).all()
            np.testing.assert_array_equal(fitted.model_.predict(steps), fitted.predict(steps))
    with pytest.raises(espalier.Error, match="not_missing: X has no column 'r'"):
        espalier.MonotonicRegressor(not_missing={"r": "NA"}).fit(frame, y)


def test_a_class_may_be_called_na():
    y = np.where(np.arange(200) % 7 > 3, "NA", "x")
    fitted = espalier.MonotonicClassifier(epochs=1).fit(np.arange(200).reshape(-1, 1) % 7, y)
    assert fitted.classes_.tolist() == ["NA", "x"]
    assert fitted.model_.info["training"]["train_rows"] == 160


def test_dates_are_no_labels():
    dates = np.array(["2019-01-01", "2020-01-01"], dtype="datetime64[D]")[np.arange(40) % 2]
    X = np.arange(40).reshape(-1, 1)
    for estimator in (espalier.MonotonicRegressor(), espalier.MonotonicClassifier()):
        for y in (dates, dates.astype(str)):
            with pytest.raises(espalier.Error):
                estimator.fit(X, y)


def test_words_that_training_never_saw_are_named():
    frame = pd.DataFrame({"c": np.array(["a", "b"])[np.arange(60) % 2], "x": np.arange(60)})
    fitted = fit(frame, np.arange(60) % 13)
    strange = frame.assign(c="z")
    for predict in (fitted.predict, fitted.model_.predict):
        with pytest.warns(espalier.Warning, match="never saw 60 of 60 words, such as 'z'"):
            predict(strange)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.uint8, bool,
                                   object, str])
def test_a_masked_cell_is_a_missing_one(dtype):
    random = np.random.default_rng(1)
    cells = (random.integers(0, 2, size=(80, 3))).astype(dtype)
    mask = random.uniform(size=cells.shape) < 0.2
    masked = np.ma.array(cells, mask=mask)
    plain = cells.astype(object)
    plain[mask] = None
    y = random.uniform(size=80)
    one, other = fit(masked, y), fit(plain, y)
    assert one.model_.hash == other.model_.hash
    columns = {f"x{i}": masked[:, i] for i in range(3)}
    assert fit(columns, y).model_.hash == other.model_.hash
    expected = other.predict(plain)
    np.testing.assert_array_equal(one.predict(masked), expected)
    np.testing.assert_array_equal(one.model_.predict(columns), expected)
    if dtype not in (bool, object, str):
        np.testing.assert_array_equal(one.model_.predict(masked), expected)
    whole = np.ma.array(cells)
    np.testing.assert_array_equal(one.predict(whole), one.predict(cells))


def test_directions_and_categories_may_be_mixed_lists():
    random = np.random.default_rng(2)
    X = random.uniform(size=(80, 3))
    y = X[:, 0] - X[:, 1]
    expected = fit(X, y, monotonic_cst=["increasing", "decreasing", "none"]).model_.hash
    for given in (["increasing", -1, 0], [1, "decreasing", "none"], (1, -1, "none"),
                  np.array([1, -1, 0]), np.array(["increasing", -1, 0], dtype=object),
                  pd.Series([1, -1, 0])):
        assert fit(X, y, monotonic_cst=given).model_.hash == expected
    frame = pd.DataFrame({"a": random.integers(0, 4, 80), "b": random.integers(0, 3, 80)})
    y = random.uniform(size=80)
    hashes = {fit(frame, y, categorical_features=given).model_.hash
              for given in (["a", "b"], ["a", 1], [0, "b"], [True, True], np.array([0, 1]))}
    assert len(hashes) == 1
    numbers = fit(frame, y, order={"a": [0, 1, 2, 3]})
    texts = fit(frame, y, order=["a=0<1<2<3"])
    assert numbers.model_.hash == texts.model_.hash


def test_any_slice_of_many_rows_gives_the_same_bits():
    X = np.random.default_rng(3).uniform(size=(150_000, 2)).astype(np.float32)
    fitted = fit(X[:500], X[:500, 0], architecture="calibrated-linear")
    whole = fitted.predict(X)
    for begin, end in ((0, 1), (65_535, 65_537), (131_071, 131_073), (149_999, 150_000)):
        np.testing.assert_array_equal(whole[begin:end], fitted.predict(X[begin:end]))
