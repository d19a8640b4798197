# SPDX-License-Identifier: Apache-2.0
# Everyday commands; `make` lists them. CMake does the work: see CMakePresets.json.
JOBS := $(shell nproc)
PREFIX ?= /usr/local
LABELS = -LE long
SOURCES = $(shell find include src cli tests -name '*.h' -o -name '*.cc')
say = @printf '\n== %s\n' "$(1)"

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps build demo test test-release test-asan test-tsan test-all format format-check \
        install clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps:  ## install the Debian packages that are missing
	@tools/install_deps.sh

build: deps  ## build the program build/espalier
	$(call say,Building build/espalier)
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release --target espalier_cli

demo: build  ## from a made-up table of loans to a proven model
	@tools/demo.sh

test: test-release test-asan  ## all fast tests; the unit tests again under sanitizers

test-all:  ## every test, the long ones too, and the thread sanitizer
	@$(MAKE) --no-print-directory test-release LABELS=
	@$(MAKE) --no-print-directory test-asan test-tsan

test-release: deps
	$(call say,Building the release)
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release
	$(call say,Testing the release)
	@ctest --preset release --parallel $(JOBS) $(LABELS)

test-asan test-tsan: test-%: deps
	$(call say,Building with the $* preset)
	@cmake --preset $* --log-level=WARNING
	@cmake --build --preset $*
	$(call say,Testing with the $* preset)
	@ctest --preset $* --parallel $(JOBS)

format: deps  ## format all sources in place
	@clang-format -i $(SOURCES)

format-check: deps  ## fail if a source is not formatted
	@clang-format --dry-run --Werror $(SOURCES)

install: build  ## install the library and the program under PREFIX (/usr/local)
	@cmake --install build --prefix $(PREFIX)

clean:  ## remove everything that was built
	rm -rf build build-dev build-asan build-tsan
