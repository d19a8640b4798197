# SPDX-License-Identifier: Apache-2.0
"""The package itself: examples in docstrings, type hints, and life without optional packages."""
import ast
import doctest
import inspect
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest

import espalier
from conftest import ROOT

PACKAGE = Path(espalier.__file__).parent
SOURCES = ROOT / "python" / "espalier"
MODULES = sorted(path.stem for path in SOURCES.glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = espalier if name == "__init__" else __import__(f"espalier.{name}", fromlist=["_"])
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/from_xgboost.md"])
def test_the_code_of_the_pages_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(espalier.simulate(rows=500)).to_csv("loans.csv", index=False)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(),
                        re.MULTILINE | re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {})


def stub_arguments(path, class_name):
    """The arguments of a constructor, each with its annotation."""
    tree = ast.parse(path.read_text())
    found = next(node for node in tree.body
                 if isinstance(node, ast.ClassDef) and node.name == class_name)
    init = next(node for node in found.body
                if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    assert all(isinstance(d, ast.Constant) and d.value is ... for d in init.args.kw_defaults)
    return {argument.arg: argument.annotation for argument in init.args.kwonlyargs}


@pytest.mark.parametrize("cls", [espalier.MonotonicClassifier, espalier.MonotonicRegressor])
def test_the_stub_has_every_parameter(cls):
    assert (PACKAGE / "py.typed").exists()
    wanted = list(inspect.signature(cls).parameters)
    assert list(stub_arguments(SOURCES / "_estimators.pyi", cls.__name__)) == wanted
    for name in wanted:
        assert f"{name} : default=" in cls.__doc__


def literals(annotation):
    """The words of a Literal[...], or None."""
    if not isinstance(annotation, ast.Subscript) or annotation.value.id != "Literal":
        return None
    return [word.value for word in annotation.slice.elts]


@pytest.mark.parametrize("cls", [espalier.MonotonicClassifier, espalier.MonotonicRegressor])
def test_the_stub_has_every_word_of_a_parameter(cls):
    annotations = stub_arguments(SOURCES / "_estimators.pyi", cls.__name__)
    words = {field["name"]: field.get("words") for field in espalier._core.train_fields()}
    del words["class_weight"]  # None or a dictionary too
    assert sum(each is not None for each in words.values()) > 3
    for name, annotation in annotations.items():
        assert literals(annotation) == words.get(name), name


def test_the_stub_of_the_extension_has_every_name():
    tree = ast.parse((SOURCES / "_core.pyi").read_text())
    named = {node.name: node for node in tree.body if hasattr(node, "name")}
    variables = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    real = {name for name in dir(espalier._core) if not name.startswith("_")}
    assert set(named) | variables == real
    for name, node in named.items():
        if isinstance(node, ast.ClassDef) and name != "Error":
            members = {each.name if hasattr(each, "name") else each.target.id
                       for each in node.body if not isinstance(each, ast.Expr)}
            found = {each for each in vars(getattr(espalier._core, name))
                     if not each.startswith("_")}
            assert members - {"__init__"} == found, name


def test_type_hints_hold():
    done = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", SOURCES,
                           "--cache-dir", os.devnull], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_package_works_with_numpy_alone(tmp_path):
    code = textwrap.dedent("""
        import sys
        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("sklearn", "pandas", "polars", "pyarrow", "matplotlib",
                                          "tqdm", "scipy", "joblib"):
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Absent())
        import espalier, pickle, numpy as np
        loans = espalier.simulate(rows=300)
        y = loans.pop("default")
        risk = espalier.MonotonicClassifier(monotonic_cst={"income": -1}, epochs=30)
        assert risk.get_params()["epochs"] == 30 and "epochs=30" in repr(risk)
        risk.set_params(random_state=2).fit(loans, y)
        assert risk.score(loans, y) > 0.7 and risk.model_.verify(pairs=100).holds
        assert (pickle.loads(pickle.dumps(risk)).predict(loans) == risk.predict(loans)).all()
        X = np.random.default_rng(1).uniform(size=(200, 2))
        drawn = espalier.MonotonicRegressor(random_state=None).fit(X, X[:, 0])
        assert drawn.score(X, X[:, 0]) > 0.9
        for refused in (lambda: espalier.MonotonicRegressor().predict(X),
                        lambda: risk.fit(X, np.arange(200)), lambda: risk.set_params(epoch=1)):
            try:
                refused()
            except ValueError:
                continue
            sys.exit("not refused")
        try:
            espalier.MonotonicRegressor().fit(X, X[:, 0], progress=True)
        except ImportError as error:
            print(error)
        """)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert "pip install tqdm" in done.stdout
