# `make demo` and `make test` are all a newcomer needs. Both create .venv when it is missing and
# install once: the stamp file is newer than what it was made from until a dependency changes.
PYTHON ?= python3
BIN = .venv/bin
INSTALLED = .venv/installed
# With PyTorch, Ray and a driver for browsers, which only `lint` and `test-extras` need.
EVERYTHING = .venv/everything
# With the generator of the site, which only `docs` needs.
DOCUMENTED = .venv/documented
PIP = PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check --editable

# The lowest versions that pyproject.toml declares, in an environment of its own.
LOWEST = .venv-lowest/installed
LOWEST_TESTS = tests/test_cli.py tests/test_versions.py tests/commands tests/page tests/storage/test_files.py \
	tests/models/layers tests/training/ensemble/test_train.py tests/mdl/test_jit.py

.PHONY: demo report test test-extras test-lowest slow coverage lint docs clean

demo: $(INSTALLED)
	$(BIN)/humboldt demo --out demo-results

report: $(INSTALLED)  # all that was reproduced, as one page; nothing is run
	$(BIN)/humboldt report reproductions --output report.html

test: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist loadfile  # what one test of a file has compiled, its neighbours use

test-extras: $(EVERYTHING)
	$(BIN)/pytest -m extras -n 2 --dist loadfile

test-lowest: $(LOWEST)  # old packages warn of what they were going to drop; that is no fault of ours
	.venv-lowest/bin/pytest -n 2 --dist loadfile -W ignore::DeprecationWarning $(LOWEST_TESTS)

slow: $(INSTALLED)
	$(BIN)/pytest -m slow

coverage: $(EVERYTHING)  # which lines no test runs, in the terminal and in build/coverage; extras included
	$(BIN)/pytest -m 'not slow' -n 2 --dist loadfile --cov --cov-report term --cov-report html:build/coverage

lint: $(EVERYTHING)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

docs: $(DOCUMENTED)  # the site, in build/site
	$(BIN)/python docs/site.py

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) '.[zoo,report,dev]'
	touch $(INSTALLED)

$(EVERYTHING): $(INSTALLED)
	$(PIP) '.[zoo,report,dev,dev-extras]'
	touch $(EVERYTHING)

$(DOCUMENTED): $(INSTALLED)
	$(PIP) '.[zoo,report,dev,docs]'
	touch $(DOCUMENTED)

$(LOWEST): pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	PIP_CONSTRAINT=constraints-lowest.txt .venv-lowest/bin/pip install --quiet --disable-pip-version-check \
		--editable '.[zoo,report,parquet]' pytest pytest-xdist hypothesis beartype pyte
	touch $(LOWEST)

clean:
	rm -rf .venv .venv-lowest build
