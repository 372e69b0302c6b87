# Two commands matter to a newcomer: `make demo` and `make test`. Both set up what they need; a second run costs nothing.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
toolchain := $(or $(KERNELVAULT_TOOLCHAIN),$(HOME)/.cache/kernelvault/toolchain)

# Tests of one file stay together: they share services.
workers := $(shell n=$$(nproc); echo $$((n < 4 ? n : 4)))
pytest := .venv/bin/python -m pytest --numprocesses $(workers) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup toolchain demo test test-fast conformance exploits lint format stubs api-baseline k8s-tools k8s-test k8s-render images images-test up down status clean

help: ## this list
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: .venv/.complete toolchain ## Python environment and HIP tool chain (once)

.venv/.complete: requirements.lock pyproject.toml scripts/setup-python
	@scripts/setup-python

toolchain:
	@scripts/install-toolchain $(toolchain)

demo: setup ## the whole job over the starter suite, without a GPU
	@scripts/demo

test: setup k8s-tools ## every test
	@$(pytest) $(PYTEST_ARGS)

test-fast: setup k8s-tools ## the tests that take under five minutes
	@$(pytest) -m "not slow" $(PYTEST_ARGS)

conformance: setup ## small HIP programs with known results on the CPU model, by feature
	@.venv/bin/python -m pytest --numprocesses $(workers) --dist worksteal tests/conformance $(PYTEST_ARGS)

exploits: setup ## programs that cheat, with the verdict and the reason, and honest look-alikes
	@.venv/bin/python -m pytest --numprocesses $(workers) --dist worksteal tests/exploits $(PYTEST_ARGS)

lint: .venv/.complete build/kernelvault.binpb ## ruff, mypy, buf, import-linter
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/buf lint build/kernelvault.binpb
	.venv/bin/lint-imports

format: .venv/.complete ## rewrites the Python files
	.venv/bin/ruff check --fix-only --quiet .
	.venv/bin/ruff format .

stubs: .venv/.complete ## regenerates kernelvault/v1 and docs/api.md from protos/
	scripts/generate-stubs
	.venv/bin/python scripts/generate-api-docs

api-baseline: build/kernelvault.binpb ## with a release: later protos may not break those of now
	.venv/bin/buf build build/kernelvault.binpb --exclude-source-info --output protos/released.binpb

k8s-tools: .venv/.complete
	@scripts/install-k8s-tools

k8s-test: setup k8s-tools ## the Helm chart: lint, schemas, KubeRay, checkov, promtool, the services' metrics
	@$(pytest) tests/k8s $(PYTEST_ARGS)

k8s-render: .venv/.complete ## renders the chart's examples into k8s/rendered
	@scripts/render-examples

images: .venv/.complete ## builds the images of the last commit that need no GPU, with buildah, on BASE_IMAGE
	@scripts/build-images

images-test: .venv/.complete ## builds them on a Debian made from packages, starts them as a cluster would, tests them
	@BASE_IMAGE=local scripts/build-images
	@.venv/bin/python -m pytest tests/images $(PYTEST_ARGS)

build/kernelvault.binpb: $(wildcard protos/kernelvault/v1/*.proto) scripts/generate-stubs | .venv/.complete
	@out=$$(mktemp -d); trap 'rm -rf $$out' EXIT; scripts/generate-stubs $$out

up: setup ## starts the S3 server and the five services
	@.venv/bin/kernelvault up

down: ## stops them
	@[ ! -x .venv/bin/kernelvault ] || .venv/bin/kernelvault down

status: ## shows them
	@.venv/bin/kernelvault status

clean: down ## removes the environment and what was built; the corpus and the caches stay
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
