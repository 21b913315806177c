# Every job of this project, by name. `make help` lists them; CI runs only these.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# npm scripts find the pinned runtime of node_modules/.bin first.
NPM := npm --silent

.PHONY: help run test check generate install price-diff price-diff-comment

# How findings are printed: text, github (annotations on a pull request) or json.
FORMAT ?= text

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
	@$(NPM) run codegen -- check --format $(FORMAT)
	@$(NPM) run types
	@$(NPM) run lint
	@$(NPM) run test -- test/tidy.test.ts

price-diff: install ## Show what the catalogue changes: BASE=ref [USAGE=export.csv] [THRESHOLD=50]
	@$(NPM) run codegen -- price-diff "$(BASE)" $(if $(USAGE),--usage "$(USAGE)") $(if $(THRESHOLD),--threshold $(THRESHOLD))

price-diff-comment: install ## Post the price diff on a pull request: BASE=ref PULL_REQUEST=number (needs gh)
	@$(NPM) run codegen -- price-diff "$(BASE)" > .price-diff.md; status=$$?; \
	  if [ -n "$$GITHUB_STEP_SUMMARY" ]; then cat .price-diff.md >> "$$GITHUB_STEP_SUMMARY"; fi; \
	  gh pr comment "$(PULL_REQUEST)" --edit-last --create-if-none --body-file .price-diff.md; rm -f .price-diff.md; exit $$status

test: check ## Everything CI needs
	@$(NPM) run test
