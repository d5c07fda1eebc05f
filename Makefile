# Three commands: `make quickstart` for users, `make test` and `make deep` for who changes something.
# The rest are their parts.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the extension modules are made of: the core's, and those of the folders that stand on it.
ANNEXES := $(wildcard layout_hint storage research)
CORE_SOURCES := $(shell find native -name '*.rs' -o -name '*.[ch]' -o -name Cargo.toml) \
	Cargo.toml Cargo.lock pyproject.toml setup.py
ALL_SOURCES := $(CORE_SOURCES) $(shell find $(ANNEXES) -name '*.rs' -o -name '*.[ch]' -o -name 'Cargo.*')
# What is missing is named before anything is built.
ifneq ($(shell PYTHON="$(PYTHON)" native/prerequisites $(MAKECMDGOALS)),ok)
$(error Nothing was built)
endif
# As setuptools-rust sets them, so that lint and install do not build pyo3 in turns.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python3
export PYO3_BUILD_EXTENSION_MODULE := 1

.PHONY: quickstart test deep help system-packages install lint types rust-test hintd wheel tap lib lib-uninstall tested-tap fuzz-regression fuzz s3-server quick slow expectations lowest freebsd-sources generate lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

quickstart: $(VENV)/.core ## build, then learn from one day of a real capture and predict the next (VERBOSE=1: all it does)
	@$(BIN)/python -m birthmark.quickstart $(if $(VERBOSE),--verbose)

# T is a folder, a file (maybe with ::test) or a name: then its Python tests are all that is run.
T ?=
test: $(VENV)/.built $(if $(T),,lint types rust-test) quick ## lint, types, and each test that answers soon (some: T=tests/predictor)

# Without optimization while linking the helper is built sooner, and is as good to test.
deep: export CARGO_PROFILE_HINTD_LTO := off
deep: export CARGO_PROFILE_HINTD_CODEGEN_UNITS := 16
deep: $(if $(T),,system-packages hintd tested-tap fuzz-regression) slow ## all else: faults, browser, cluster, S3, cross builds, examples (some: T=)

# One virtual environment, filled from the lock files alone. What is imported is compiled then: the
# rest never is.
PIP_INSTALL := $(BIN)/pip install --quiet --no-compile --require-hashes --requirement
$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock | $(BIN)/pip
	$(PIP_INSTALL) requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(PIP_INSTALL) requirements-dev.lock
	@touch $@

# The command of setuptools-rust, which finds everything built then. It shows how far it is.
CRATE = cargo rustc --lib --locked --manifest-path $(1)/python/Cargo.toml --crate-type cdylib
EDITABLE = SETUPTOOLS_RUST_CARGO_PROFILE=dev $(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
$(VENV)/.core-crates: $(CORE_SOURCES) | $(BIN)/pip
	$(call CRATE,native)
	@touch $@

$(VENV)/.crates: $(ALL_SOURCES) $(VENV)/.core-crates
	for folder in $(ANNEXES); do $(call CRATE,$$folder) || exit; done
	@touch $@

# What pip fetches and what cargo builds need not wait for each other.
PACKAGES := $(VENV)/.runtime
test: PACKAGES := $(VENV)/.dev
$(VENV)/.core: requirements.lock $(CORE_SOURCES)
	@$(MAKE) --no-print-directory --jobs=2 $(PACKAGES) $(VENV)/.core-crates
	EXTENSIONS=native $(EDITABLE)
	@touch $@

$(VENV)/.built: requirements.lock $(ALL_SOURCES)
	@$(MAKE) --no-print-directory --jobs=2 $(PACKAGES) $(VENV)/.crates
	$(EDITABLE)
	@touch $(VENV)/.core $@

system-packages: ## name what only deep tests need; with TEST_INSTALL set, install it
	tests/system-packages

install: $(VENV)/.built ## build and install into .venv

lint: $(VENV)/.dev ## formatting and lint of Python and Rust
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	cargo fmt --all --check -- native/trace/src/*/mod.rs
	for folder in . $(ANNEXES); do \
		(cd $$folder && cargo fmt --check && cargo clippy --locked --all-targets -- -D warnings) || exit; \
	done

types: $(VENV)/.dev $(VENV)/.built ## static types of the Python packages, and the extension beside its stubs
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest birthmark_native $(ANNEXES:%=birthmark.%.native) \
		--mypy-config-file pyproject.toml --allowlist native/stubtest-allowlist --ignore-unused-allowlist

rust-test: ## tests of the crates
	umask 022 && for folder in . $(ANNEXES); do (cd $$folder && cargo test --locked --quiet) || exit; done

wheel: $(VENV)/.dev ## a wheel for any Linux with glibc 2.28, in dist: its users need no Rust and no checkout
	PIP="$(BIN)/pip" ZIG="$(CURDIR)/$(BIN)/python -m ziglang" native/python/wheel

TAP_PROFILE ?= release
tap: ## birthmark-tap, which brings `birthmark follow` an interface (needs libpcap-dev)
	cargo build --locked --profile $(TAP_PROFILE) -p birthmark-tap
	install -D target/$(if $(filter dev,$(TAP_PROFILE)),debug,$(TAP_PROFILE))/birthmark-tap $(BIN)/birthmark-tap

# Where the library goes, as in other programs' makefiles; LIB_PROFILE=dev builds it sooner.
PREFIX ?= /usr/local
LIB_PROFILE ?= release
LIB_VERSION := $(shell sed -n '/workspace.package/,/^$$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
LIB_BUILT = target/$(if $(filter dev,$(LIB_PROFILE)),debug,$(LIB_PROFILE))/libbirthmark.so
lib: ## libbirthmark for C, with its headers and birthmark.pc: into PREFIX, below DESTDIR if that is set
	cargo build --locked --profile $(LIB_PROFILE) -p birthmark-clib
	install -D -s $(LIB_BUILT) "$(DESTDIR)$(PREFIX)/lib/libbirthmark.so.$(LIB_VERSION)"
	ln -sf libbirthmark.so.$(LIB_VERSION) "$(DESTDIR)$(PREFIX)/lib/libbirthmark.so.0"
	ln -sf libbirthmark.so.0 "$(DESTDIR)$(PREFIX)/lib/libbirthmark.so"
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)/include/birthmark" \
		layout_hint/include/birthmark.h native/clib/include/birthmark_model.h
	install -d "$(DESTDIR)$(PREFIX)/lib/pkgconfig"
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(LIB_VERSION)|' native/clib/birthmark.pc.in \
		> "$(DESTDIR)$(PREFIX)/lib/pkgconfig/birthmark.pc"

lib-uninstall: ## remove what `make lib` installed, with the same PREFIX and DESTDIR
	rm -f "$(DESTDIR)$(PREFIX)"/lib/libbirthmark.so* "$(DESTDIR)$(PREFIX)/lib/pkgconfig/birthmark.pc" \
		"$(DESTDIR)$(PREFIX)"/include/birthmark/birthmark.h \
		"$(DESTDIR)$(PREFIX)"/include/birthmark/birthmark_model.h
	[ ! -d "$(DESTDIR)$(PREFIX)/include/birthmark" ] || rmdir "$(DESTDIR)$(PREFIX)/include/birthmark"

tested-tap: # as tap, where there is libpcap; tests that need it are skipped where there is none
	@if [ -e /usr/include/pcap.h ]; then $(MAKE) --no-print-directory tap TAP_PROFILE=dev; fi

hintd: $(VENV)/.dev ## the layout hint's helper, for this Linux and for FreeBSD
	ZIG="$(CURDIR)/$(BIN)/python -m ziglang" layout_hint/hintd/build

fuzz-regression: ## each decoder reads its corpus once; two seconds of fuzzing what is C
	native/fuzz/run 0
	layout_hint/fuzz/run 2

fuzz: $(VENV)/.dev $(VENV)/.built ## ten minutes of fuzzing for each decoder, and conversations in HTTP
	native/fuzz/run 600
	layout_hint/fuzz/run 600
	TEST_EXAMPLES=20000 $(BIN)/pytest tests/serving/test_grammar.py

# One that Rust 1.88 builds. Kept beside the other programs, so that it is built once.
$(BIN)/s3s-fs:
	CARGO_PROFILE_DEV_DEBUG=0 cargo install s3s-fs --version 0.12.0 --locked --features binary \
		--debug --quiet --root $(VENV) --target-dir target/s3s-fs

s3-server: $(VENV)/.dev $(BIN)/s3s-fs ## a server that speaks S3, for the tests of registries

quick: $(VENV)/.dev $(VENV)/.built ## tests of the Python packages that answer soon
	PYTEST=$(BIN)/pytest tests/run quick "$(T)"

slow: $(VENV)/.dev $(VENV)/.built s3-server ## tests of the Python packages that take long or need more
	PYTEST=$(BIN)/pytest tests/run deep "$(T)"

expectations: $(VENV)/.built ## write what the cases find over what they expect; then review git diff (some: T=)
	TEST_REWRITE=1 $(BIN)/pytest --quiet -m "not deep" $(or $(T),$(shell grep -rl '^@suites' tests --include='test_*.py'))

SOURCES ?= /usr/src
freebsd-sources: $(VENV)/.dev $(VENV)/.built ## the patches on sources of FreeBSD, SOURCES="/usr/src-13.1 /usr/src-15"; not in make deep
	TEST_FREEBSD_SOURCES="$(SOURCES)" $(BIN)/pytest tests/layout_hint/ffs/patched.py

# The headers first: the extension is built with them, and the pages show its declarations.
generate: $(VENV)/.dev ## write the generated files that take seconds (CONTRIBUTING.md lists the others)
	cargo run --locked --quiet --package birthmark-contract --example headers
	@$(MAKE) --no-print-directory install
	$(BIN)/python -m docs.generate

# Its own environment and nothing of the lock. Old libraries are slower, and warn of what newer ones
# beside them say.
LOWEST := target/lowest
lowest: $(VENV)/.built ## quick tests with the lowest versions that pyproject.toml allows (needs uv)
	uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	uv pip install --quiet --python $(LOWEST) --resolution lowest-direct --requirement pyproject.toml \
		--extra build --extra dask --extra dev
	SETUPTOOLS_RUST_CARGO_PROFILE=dev uv pip install --quiet --python $(LOWEST) --no-deps \
		--no-build-isolation --editable .
	$(LOWEST)/bin/pytest -m "not deep" -W ignore::DeprecationWarning $(T)

lock: ## pin the dependencies anew (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-header --extra build --output-file requirements.lock pyproject.toml
	uv pip compile --quiet --universal --generate-hashes --no-header --extra bench --extra build --extra dask --extra dev --constraint requirements.lock --output-file requirements-dev.lock pyproject.toml

clean: ## remove what the other targets made
	rm -rf $(VENV) quickstart target
