# Every job of this project, by name. `make help` lists them; CI runs only these.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# npm scripts find the pinned runtime of node_modules/.bin first.
NPM := npm --silent

.PHONY: help run test check generate install

help: ## List the targets
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  %-14s %s\n", $$1, $$2 }'

install: node_modules/.installed ## Install the pinned runtime and packages

node_modules/.installed: package.json package-lock.json
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

run: install ## Start the gateway on http://127.0.0.1:8080, with its database and sandbox
	@$(NPM) run gateway -- serve

generate: install ## Turn the catalogue into src/generated/
	@$(NPM) run codegen -- generate

check: install ## Validate the catalogue, compare generated files, types, lint, structure
	@$(NPM) run codegen -- check
	@$(NPM) run types
	@$(NPM) run lint
	@$(NPM) run test -- test/tidy.test.ts

test: check ## Everything CI needs
	@$(NPM) run test
