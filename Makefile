# `make demo` and `make test` are all that a newcomer needs; CONTRIBUTING.md explains the rest.
PYTHON ?= python3
VENV ?= .venv
CC ?= cc
PYTEST_FLAGS ?=
# Tests side by side on all cores; PYTEST_FLAGS='-n 0' runs them one after another.
PYTEST := python -m pytest -n auto --dist worksteal
# Tests and benchmarks that need a data set look for it here, and skip by its name if it is not there.
export SSVM_DATA ?= $(abspath ../shared/data)

BIN := $(abspath $(VENV))/bin
SOURCES := pyproject.toml setup.py $(shell find cython_ext \( -name '*.pyx' -o -name '*.pxd' -o -name '*.h' \))
# What the debug and the sanitizer build compile, and the tests that reach the compiled core directly.
CHECKED := setup.py pyproject.toml README.md LICENSE MANIFEST.in man cython_ext data_formats ssvm_cli tests
KERNEL_TESTS := tests/oracles tests/solvers tests/formats

.PHONY: demo test lint fuzz debug sanitize wheel-test benchmarks clean
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	$(MAKE) --no-print-directory -C examples demo SSVM=$(BIN)/ssvm

test: $(VENV)/test-installed lint
	$(BIN)/$(PYTEST) $(PYTEST_FLAGS)

lint: $(VENV)/test-installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	PATH="$(BIN):$$PATH" $(BIN)/cython-lint cython_ext
	! grep -rnE --include='*.h' '.{121}' cython_ext

# Every reader against altered files; what fails is said with its seed and kept in build/fuzz. FUZZ_COUNT=1000000 for a
# long night, FUZZ='model-graph config' for some readers.
FUZZ_COUNT ?= 10000
FUZZ_SEED ?= 0
fuzz: $(VENV)/test-installed
	$(BIN)/python -m tests.fuzz --count $(FUZZ_COUNT) --seed $(FUZZ_SEED) $(FUZZ)

# A virtual environment with the package in it, as an editable install: Python files take effect at once, and of what is
# compiled each module is compiled again when one of its sources is newer.
$(VENV)/created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "ssvm needs Python 3.10 or newer: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# What pyproject.toml asks for to build, and then the package without its extensions: pip would compile all of them again
# at each change, in a folder of its own.
$(VENV)/packaged: $(VENV)/created pyproject.toml setup.py
	$(BIN)/python -c "$(BUILD_REQUIREMENTS)" > $(VENV)/build-requirements
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement $(VENV)/build-requirements
	SSVM_COMPILED=0 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable .
	touch $@

$(VENV)/installed: $(VENV)/packaged $(SOURCES)
	@echo 'compiling the extensions of ssvm, which takes some minutes the first time'
	$(BIN)/python setup.py --quiet build_ext --inplace
	touch $@

BUILD_REQUIREMENTS := import re; \
  print(*re.findall(r'\x22(.+?)\x22', re.search('^requires = (.+)', open('pyproject.toml').read(), re.M)[1]), sep='\n')

# Only what the tests need besides: asking pip for `.[test]` would compile everything once more.
$(VENV)/test-installed: $(VENV)/installed
	$(BIN)/python -c "$(TEST_REQUIREMENTS)" > $(VENV)/test-requirements
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement $(VENV)/test-requirements
	touch $@

TEST_REQUIREMENTS := from importlib.metadata import requires; \
  print(*(line.split(';')[0] for line in requires('ssvm') if 'test' in line.partition(';')[2]), sep='\n')

# The sdist, the wheel made from it, and the tests of the sdist run against that wheel in an environment elsewhere. Of a
# copy: the Cython that `build` installs for itself is newer than what was made here, and would make it all again.
wheel-test: $(VENV)/created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	rm -rf build/wheel-test && mkdir -p build/wheel-test/source
	tar cf - --exclude='*.so' --exclude='*.c' --exclude='*.lis' --exclude=__pycache__ --exclude=./build --exclude=./$(VENV) --exclude=./.git . \
	  | tar xf - -C build/wheel-test/source
	$(BIN)/python -m build --outdir build/wheel-test build/wheel-test/source > build/wheel-test/build.log || { cat build/wheel-test/build.log; exit 1; }
	@set -eu; \
	elsewhere=$$(mktemp -d); trap 'rm -rf "$$elsewhere"' EXIT; \
	tar xzf build/wheel-test/*.tar.gz -C "$$elsewhere" --strip-components=1; \
	rm -rf "$$elsewhere"/cython_ext "$$elsewhere"/data_formats "$$elsewhere"/ssvm_cli; \
	$(BIN)/python -m venv "$$elsewhere/.venv"; \
	wheel=$$(ls $(CURDIR)/build/wheel-test/*.whl); \
	echo "testing $$wheel in $$elsewhere"; \
	"$$elsewhere/.venv/bin/python" -m pip install --quiet --disable-pip-version-check "$$wheel[test]"; \
	cd "$$elsewhere" && .venv/bin/$(PYTEST) $(PYTEST_FLAGS)

# Kernel tests under a build with bounds checks and C assertions, and under AddressSanitizer; both in folders of their own.
debug: $(VENV)/test-installed
	$(call checked_build,build/debug,SSVM_DEBUG=1)
	cd build/debug && $(BIN)/python -m pytest $(KERNEL_TESTS) $(PYTEST_FLAGS)

sanitize: $(VENV)/test-installed
	$(call checked_build,build/sanitize,SSVM_SANITIZE=1)
	cd build/sanitize && ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 PYTHONMALLOC=malloc \
	  $(if $(filter Darwin,$(shell uname)),DYLD_INSERT_LIBRARIES,LD_PRELOAD)=$(ASAN_RUNTIME) \
	  $(BIN)/python -m pytest $(KERNEL_TESTS) $(PYTEST_FLAGS)

ASAN_RUNTIME = $(shell $(CC) -print-file-name=$(if $(filter Darwin,$(shell uname)),libclang_rt.asan_osx_dynamic.dylib,libasan.so))

# $(call checked_build,FOLDER,SETTING): copy the sources to FOLDER and compile them there with SETTING in the environment.
define checked_build
	mkdir -p $(1)
	tar cf - --exclude='*.so' --exclude='*.c' --exclude='*.lis' --exclude=__pycache__ $(CHECKED) | tar xf - -C $(1)
	cd $(1) && $(2) $(BIN)/python setup.py -q build_ext --inplace
endef

# The peers' programs into build/benchmarks, then every benchmark: over an hour.
benchmarks: $(VENV)/installed
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf build dist $(VENV) examples/*/out .pytest_cache .hypothesis .ruff_cache ssvm.egg-info
	find cython_ext \( -name '*.so' -o -name '*.c' -o -name '*.lis' \) -delete
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
