# SPDX-License-Identifier: Apache-2.0
"""Wheel and sdist bring what they need: they work in empty environments. ESPALIER_WHEEL names the
wheel."""
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT

# What every Linux with glibc and a C++ program has; manylinux allows a wheel to rely on it.
OF_THE_SYSTEM = re.compile(
    r"(libc|libm|libz|libpthread|libdl|librt|libstdc\+\+|libgcc_s|ld-linux[\w-]*)[.-]")

USE = """
import numpy as np
import espalier
X = np.random.default_rng(1).uniform(size=(200, 2)).astype(np.float32)
fitted = espalier.MonotonicRegressor(monotonic_cst=[1, 0], epochs=20).fit(X, X[:, 0])
assert fitted.score(X, X[:, 0]) > 0.9 and fitted.model_.verify(pairs=100).holds
fitted.model_.save("model.esp")
assert (espalier.load("model.esp").predict(X) == fitted.predict(X)).all()
for line in open("/proc/self/maps"):
    print(line.split()[-1])
"""


@pytest.fixture(scope="module")
def wheel():
    built = sorted((ROOT / "build" / "dist").glob("espalier-*.whl"))
    path = os.environ.get("ESPALIER_WHEEL", built[-1] if built else None)
    if path is None:
        pytest.fail("no wheel: make test-python builds one, or set ESPALIER_WHEEL")
    return Path(path)


def needed(library):
    listed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", listed.stdout)


def test_the_wheel_holds_the_package_and_every_library_it_needs(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert {"espalier/__init__.py", "espalier/py.typed", "espalier/_core.pyi"} <= set(names)
    assert not [name for name in names if name.endswith((".h", ".a", ".cmake"))]
    libraries = [path for path in tmp_path.rglob("*.so*") if path.is_file()]
    carried = {path.name for path in libraries}
    absent = {name for path in libraries for name in needed(path)
              if name not in carried and not OF_THE_SYSTEM.match(name)}
    assert libraries and not absent


def test_the_wheel_is_small_has_a_tag_and_holds_each_library_once(wheel):
    assert re.search(r"-(cp311-cp311|cp3\d+-abi3|cp3\d+-cp3\d+)-manylinux_2_\d+_x86_64\.whl$",
                     wheel.name)
    assert wheel.stat().st_size < 5_000_000
    with zipfile.ZipFile(wheel) as archive:
        sums = [entry.CRC for entry in archive.infolist() if ".so" in entry.filename]
    assert sums and len(set(sums)) == len(sums)


def use_in_an_empty_environment(package, tmp_path):
    """Installs a package and uses it; the libraries that the process then has."""
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "VIRTUAL_ENV", "LD_"))}
    subprocess.run([python, "-m", "pip", "install", "--quiet", package], env=kept, check=True)
    done = subprocess.run([python, "-c", USE], env=kept, cwd=tmp_path, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return {Path(line) for line in done.stdout.split() if ".so" in line}


def test_the_wheel_works_in_an_empty_environment(wheel, tmp_path):
    mapped = use_in_an_empty_environment(wheel, tmp_path)
    inside = {path.name for path in mapped if tmp_path in path.parents}
    outside = {path.name for path in mapped if tmp_path not in path.parents and
               Path(sys.base_prefix) not in path.parents}
    assert any(name.startswith("_core") for name in inside)
    assert not {name for name in outside if re.match("lib(hwy|espalier|fmt)", name)}


@pytest.fixture(scope="module")
def sdist():
    return next((ROOT / "build" / "dist").glob("espalier-*.tar.gz"))


def test_the_sdist_holds_sources_and_nothing_that_was_built(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "python/CMakeLists.txt",
            "include/espalier/c.h", "src/serve/predictor.cc", "cmake/install.cmake"} <= names
    assert not {name for name in names
                if re.match("(build|tests|bench)|.*[.](so|o|esp|pyc)$", name)}


@pytest.mark.sdist
def test_the_sdist_builds_and_works_in_an_empty_environment(sdist, tmp_path):
    mapped = use_in_an_empty_environment(sdist, tmp_path)
    assert any(path.name.startswith("_core") for path in mapped)
