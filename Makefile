# make demo   set everything up, run the main job on embedded parts, serve the pages (SERVE=0: only the work;
#             SYSTEMS=all: train a tiny network of every kind)
# make test   set everything up, run all checks and tests
# make lint   ruff, mypy, tsc, migrations     make bench   what is measured, as ratios

PYTHON ?= python3.11
SERVE ?= 1
SYSTEMS ?= two
PORT ?= 8000
PY := .venv/bin/python
BUILT := frontend/dist/researcher.js
FRONTEND_SOURCES := $(shell find frontend/src frontend/public frontend/templates/work frontend/vite.config.ts frontend/check_size.mjs frontend/tsconfig.json -type f)

# Whatever the shell says: compiled files are kept, since the tests start some hundred processes, and output is held
# back as Python does by itself, so that the tests see what is printed too late.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONUNBUFFERED

.PHONY: demo test lint bench pytest constraints clean

demo: .venv/installed $(BUILT)
	$(PY) -m examples.demo --serve $(SERVE) --port $(PORT) --systems $(SYSTEMS)

test: lint pytest

# tests/suite.py says what runs where, and how long it took.
pytest: .venv/installed $(BUILT) .venv/browser
	$(PY) -m tests.suite

lint: .venv/installed frontend/node_modules/installed
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	$(PY) manage.py makemigrations --check --dry-run
	. .venv/node-path && npm --prefix frontend run --silent check

bench: .venv/installed $(BUILT) .venv/browser
	$(PY) -m benchmarks.import_speed --database sqlite postgresql
	$(PY) -m benchmarks.human_by_looks
	$(PY) -m benchmarks.batching
	$(PY) -m benchmarks.generating_chaos
	$(PY) -m benchmarks.publishing
	$(PY) -m benchmarks.publishing_chaos
	$(PY) -m benchmarks.third_party_clients
	$(PY) -m benchmarks.third_party_prolific
	$(PY) -m benchmarks.serving
	$(PY) -m benchmarks.allocation
	$(PY) -m benchmarks.worker_page
	$(PY) -m benchmarks.worker_effort
	$(PY) -m benchmarks.sync_chaos
	$(PY) -m benchmarks.fourth_votes_chaos
	$(PY) -m benchmarks.full_size
	$(PY) -m benchmarks.screening
	$(PY) -m benchmarks.screening_trials
	$(PY) -m benchmarks.reading_ratings
	$(PY) -m benchmarks.validity
	$(PY) -m benchmarks.stopping_by_rule
	$(PY) -m benchmarks.analysing
	$(PY) -m benchmarks.exporting
	$(PY) -m benchmarks.ten_millions
	$(PY) -m benchmarks.decoding
	$(PY) -m benchmarks.empathy_decoding

# --- Set-up: each step leaves a file, so that the next run skips it ---

.venv/installed: requirements.txt requirements-web.txt constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "EvalPlatform needs Python 3.11: install it, or name one with make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

# Node from PATH if Vite can use it, else from PyPI into .venv. The file says where it is.
.venv/node-path: .venv/installed frontend/install_node.py
	$(PY) frontend/install_node.py > $@.new
	mv $@.new $@

# `install`, not `ci`: the lock file was made on Linux and lacks other systems' builds of Vite's optional parts.
frontend/node_modules/installed: frontend/package-lock.json frontend/.npmrc .venv/node-path
	. .venv/node-path && npm --prefix frontend install --loglevel error --no-audit --no-fund
	touch $@

$(BUILT): frontend/node_modules/installed $(FRONTEND_SOURCES)
	. .venv/node-path && npm --prefix frontend run --silent build
	touch $@

.venv/browser: .venv/installed tests/install_browser.py
	$(PY) -m tests.install_browser > $@.new
	mv $@.new $@

constraints: .venv/installed
	{ sed -n '/^#/p' constraints.txt; .venv/bin/pip freeze | grep -v '^torch=='; } > constraints.new
	mv constraints.new constraints.txt

clean:
	rm -rf .venv frontend/node_modules frontend/dist
