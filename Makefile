# Each target sets up what it needs, so that the first call works on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.demo
AZURE_STAMP := $(VENV)/.demo-azure

.PHONY: setup demo demo-azure test test-long test-engine test-clusters test-hubs clusters clusters-down fuzz mutants lint bench docs \
	changelog clean

setup: $(STAMP)

$(STAMP): EXTRAS := dev
$(DEMO_STAMP): EXTRAS := cli,kubernetes
$(AZURE_STAMP): EXTRAS := cli,kubernetes,azure
$(STAMP) $(DEMO_STAMP) $(AZURE_STAMP): pyproject.toml constraints.txt
	@echo "setting up $(VENV), once"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@

# The second pass plans the same placements with the files of stacks/fleet-next in the place of two others.
NEXT := stacks/fleet/monitoring.yaml stacks/fleet/placements.yaml stacks/fleet/reports.yaml stacks/fleet-next
LAST := out/local/state.json

define show
	@printf '\n== %s\n\n$$ %s\n\n' '$(strip $(1))' '$(BIN)/fleet $(strip $(2))'
	@$(BIN)/fleet $(2)
endef

demo: $(DEMO_STAMP)
	$(call show, 1. Who gets what - and what pulumi preview would show, plan . --stack local)
	$(call show, 2. Why: every member and every plug-in, explain . shop --stack local)
	$(call show, 3. The manifests of each member with the decisions beside them, render . --stack local --out out --fresh)
	$(call show, 4. Next week: a new image; region eastus lost; a member added, plan $(NEXT) --state $(LAST) --diff)
	@printf '\nThe manifests are in out/local, a folder a member.\n'

# Nothing of Azure is asked, and no engine is there: the second plan starts where the first one would have ended.
AFTER := out/azure/planned.json

demo-azure: $(AZURE_STAMP)
	$(call show, 1. From an empty subscription to placed workloads, plan . --stack azure --save-state $(AFTER))
	$(call show, 2. Why there: every member and every plug-in, explain . shop --stack azure)
	$(call show, 3. A week later: what changes; what it costs before and after, plan . --stack azure --state $(AFTER) --config fleet:source=azure-next --diff)

# Tests start many processes, each of which would compile the package anew where the environment keeps no bytecode.
test test-long test-engine test-clusters test-hubs fuzz: export PYTHONDONTWRITEBYTECODE :=

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not clusters and not hubs and not long"

# Properties over many examples, long histories, and whatever else takes seconds a test.
test-long: setup
	FLEET_HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n auto --dist worksteal \
		-m "long or (hypothesis and not clusters and not hubs)"

# The engine's own part of the fast suite; without the Pulumi CLI it fails, where make test skips.
test-engine: setup
	FLEET_REQUIRE_ENGINE=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "engine and not clusters and not hubs"

# Without Go nothing is built, and the tests skip and say so.
test-clusters: setup
	@if command -v go > /dev/null; then $(BIN)/python -m tools.clusters build; fi
	$(BIN)/python -m pytest -m clusters

# The agents must be on PATH; without them the tests skip and say so. FLEET_REQUIRE_HUBS=1 lets them fail instead.
test-hubs: setup
	@if command -v go > /dev/null; then $(BIN)/python -m tools.clusters build; fi
	$(BIN)/python -m pytest -m hubs

# Four clusters on this machine, to play with; stacks/Pulumi.clusters.yaml delivers to them.
clusters: setup
	@$(BIN)/python -m tools.clusters up out/clusters east north south west

clusters-down: setup
	@$(BIN)/python -m tools.clusters down out/clusters

# As in the suite, with 200 times as many examples: some 20 minutes.
fuzz: setup
	FLEET_HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n auto tests/fuzz tests/plan/test_placements.py

# Small faults in the code, each of which the tests of its folder must notice: PACKAGES="plan content", SEED=1.
mutants: setup
	$(BIN)/python -m tools.mutants $(PACKAGES) $(if $(SEED),--seed $(SEED))

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md changelog.d docs examples stacks tools fleet_components
	$(BIN)/python -m tools.prose
	$(BIN)/python -m tools.audit

bench: setup
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.engine.bench

docs: setup
	$(BIN)/python -m tools.fields > docs/fields.md
	$(BIN)/python -m tools.deliveries > docs/fields-by-delivery.md
	$(BIN)/python -m tools.settings > docs/settings.md
	$(BIN)/python -m tools.settings --schema > docs/settings.schema.json

# Shows what the next release says; with VERSION=X.Y.Z it writes that into CHANGELOG.md and removes the fragments.
changelog: setup
	$(BIN)/towncrier build $(if $(VERSION),--yes --version $(VERSION),--draft --version unreleased)

clean:
	@if test -d out/clusters; then $(BIN)/python -m tools.clusters down out/clusters; fi
	rm -rf $(VENV) out dist
