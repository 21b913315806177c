# Every task of this project. `make help` lists them; CI runs only these.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# The pinned runtime and tools in node_modules take precedence.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

.PHONY: bench hostile tools faults soak drill hosts fuzz fuzz-plain fuzz-spools help pictures install run generate check test e2e price-diff price-diff-comment

# The compile cache halves its start-up time.
CODEGEN := NODE_COMPILE_CACHE="$(CURDIR)/node_modules/.cache/compiled" node codegen/main.ts

# How findings are printed: text, github (annotations on a pull request) or json.
FORMAT ?= text

help: ## List the targets
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ sub(/:.*/, "", $$1); printf "  %-14s %s\n", $$1, $$2 }'

install: node_modules/.installed ## Install the pinned runtime and packages

node_modules/.installed: package.json package-lock.json $(wildcard patches/*.patch)
	@npm ci --no-audit --no-fund --loglevel=error
	@for patch in patches/*.patch; do git apply "$$patch" || \
	  { echo "$$patch does not apply to the installed version: see docs/decisions/" >&2; exit 1; }; done
	@touch $@

run: generate ## Start the gateway on http://127.0.0.1:8080 with its own database; Ctrl-C stops it
	@MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072 exec node --min-semi-space-size=16 --heap-growing-percent=100 src/start.js serve

generate: install ## Turn the catalogue into src/generated/
	@$(CODEGEN) generate

check: install ## Validate the catalogue, compare generated files, types, lint, structure, packages
	@$(CODEGEN) check --format $(FORMAT)
	@tsc --noEmit
	@biome check --error-on-warnings .
	@vitest run --silent=passed-only test/tidy.test.ts test/catalogue/names.test.ts
	@node .ci/packages.ts

price-diff: install ## Show how the catalogue differs from a revision: BASE=ref [USAGE=export.csv] [THRESHOLD=50]
	@$(CODEGEN) price-diff "$(BASE)" $(if $(USAGE),--usage "$(USAGE)") $(if $(THRESHOLD),--threshold $(THRESHOLD))

price-diff-comment: install ## Post the price diff on a pull request: BASE=ref PULL_REQUEST=number (needs gh)
	@$(CODEGEN) price-diff "$(BASE)" > .price-diff.md; status=$$?; posted=0; \
	  if [ -n "$$GITHUB_STEP_SUMMARY" ]; then cat .price-diff.md >> "$$GITHUB_STEP_SUMMARY"; fi; \
	  gh pr comment "$(PULL_REQUEST)" --edit-last --create-if-none --body-file .price-diff.md || posted=$$?; \
	  if [ $$posted -ne 0 ]; then echo "could not post the price diff; here it is:" >&2; cat .price-diff.md; fi; \
	  rm -f .price-diff.md; [ $$status -ne 0 ] && exit $$status; exit $$posted

e2e: install ## Walk through the pages in Chromium (CHROMIUM=path if it is not /usr/bin/chromium)
	@vitest run --silent=passed-only test/browser

test: check ## Everything CI needs
	@vitest run --silent=passed-only

faults: install ## Kill gateways and Postgres under load, then check every dong: DURATION=600 SEED=number
	@DURATION="$(DURATION)" SEED="$(SEED)" node test/fault/run.ts

soak: install ## Load, faults, redeploys and rotations for hours; nothing may grow: [HOURS=2] [RATE=10] [SEED=n] [NAME=name]
	@HOURS="$(HOURS)" RATE="$(RATE)" SEED="$(SEED)" NAME="$(NAME)" node test/soak/run.ts

drill: install ## Lose Postgres' disk under load and bring everything back: [STEP=20]
	@STEP="$(STEP)" node test/drill/run.ts

hosts: install ## Cut links, kill hosts, fail over, roll a release between network namespaces (root, Linux): [RATE=8] [ONLY=standby]
	@RATE="$(RATE)" ONLY="$(ONLY)" node test/hosts/run.ts

# Number of bodies. Without SEED, one is chosen and printed.
FUZZ ?= 10000
fuzz: install ## Send random and mutated bodies to every endpoint: [FUZZ=10000] [SEED=n]
	@FUZZ=$(FUZZ) vitest run test/security/fuzz.test.ts

fuzz-plain: install ## Compare how bodies are handled when only checked and when read in full: [FUZZ=10000] [SEED=n]
	@FUZZ=$(FUZZ) vitest run test/translate/plain-body.test.ts

SPOOLS ?= 10000
fuzz-spools: install ## Start gateways on spools with random damage: [SPOOLS=10000] [SEED=n]
	@SPOOLS=$(SPOOLS) vitest run test/ledger/spool-damage.test.ts

bench: install ## Measure the gateway and its parts, compared with a bare proxy: [BASE=ref] [NAME=name] [ROUNDS=7]; see bench/README.md
	@node bench/main.ts $(if $(BASE),--base "$(BASE)") $(if $(NAME),--name "$(NAME)") $(if $(ROUNDS),--rounds "$(ROUNDS)")
	@node bench/stream-conversion.ts
	@node bench/reports.ts
	@node bench/pages.ts
	@node bench/count-tokens.ts

hostile: install ## Measure how the worst bodies affect the event loop, memory and honest calls: [NAME=name]
	@node bench/hostile.ts $(if $(NAME),--name "$(NAME)")

# Which tools: all, or names separated by commas.
TOOLS ?= all
tools: install ## Run coding agents, llm and Python with the pages' snippets as they stand (downloads them): [TOOLS=codex,llm]
	@TOOLS="$(TOOLS)" vitest run test/sdk/quick-start-agents.test.ts test/sdk/quick-start-python.test.ts

pictures: generate ## Take the README's pictures in Chromium (CHROMIUM=path if it is not /usr/bin/chromium)
	@node bench/pictures.ts
