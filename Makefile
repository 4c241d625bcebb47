# The two commands of the README are `go run ./cmd/sluice-demo` and `make test`. Everything here needs Go and git alone,
# except `check` and `vulns`, which fetch their tools with Go, and `openapi`, which does with npm.

GO ?= go
# gin would bring a codec for MessagePack, which nobody here speaks: a sixth of the binary.
export GOFLAGS += -tags=nomsgpack
LINT_VERSION := v2.15.0
VULN_VERSION := v1.1.4
REDOCLY_VERSION := 1.34.5
AXE_VERSION := 4.14.1
PUPPETEER_VERSION := 24.43.1
BIN := $(CURDIR)/bin
# The race detector needs a C compiler; where there is none the tests run without it. With it come checks of unsafe pointers. SQLite was
# translated from C, keeps what it has outside Go's memory and has locks of its own: to watch each of its steps would find nothing, and make
# opening a database three times slower.
RACE := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race -gcflags=modernc.org/...=-d=checkptr=0 -gcflags=modernc.org/sqlite/lib=-race=false)
FUZZTIME ?= 30s
# Fuzz targets that run at once; each has its share of the cores.
FUZZJOBS ?= 2
# Worlds that are attacked in make fuzz, and the seed of the first: one that was attacked before finds nothing new.
WORLDS ?= 10000
SEED ?= $(shell date +%s)
# Trees that make oracle draws, some dozens of milliseconds each. A million is for people: make oracle TREES=1000000
TREES ?= 1000
BENCHTIME ?= 1s
# The part of each figure's number of pull requests that make figures measures.
PART ?= 1
# End-to-end tests mostly wait for the built service, so more of them run at once than there are cores.
PARALLEL ?= 8
# What runs the built service, attacks worlds or replays hours: make e2e. Every other package: make test.
E2E := ./test/attack ./test/e2e ./test/flux ./test/hour
PACKAGES = $(filter-out $(E2E:.%=\%%),$(shell $(GO) list ./...))
# What make e2e runs without the race detector too: the binary that ships, and tests that do less with it.
NORACE := ./test/attack ./test/e2e ./test/hour ./budget ./cmd/sluice ./flux/build ./flux/graph ./flux/revisions ./flux/survey ./forge ./gitremote ./layout ./plan ./reconcile ./window

# A module of its own, with what Flux brings: ./... of ours does not have it.
ORACLE := test/oracle

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## run the service against the stand-in GitHub, with windows that open every few minutes
	$(GO) run ./cmd/sluice-demo

.PHONY: build
build: ## build bin/sluice and bin/sluice-demo, static and stripped
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o $(BIN)/ ./cmd/...

.PHONY: test
test: ## run the tests of the packages, with the race detector where there is a C compiler
	$(GO) test $(RACE) -parallel $(PARALLEL) -timeout 20m $(PACKAGES)

.PHONY: e2e
e2e: ## run the end-to-end tests, with the race detector as above, and without it on the binary as it ships
	$(GO) test $(RACE) -count=1 -parallel $(PARALLEL) -timeout 60m $(E2E)
	$(GO) test -count=1 -parallel $(PARALLEL) -timeout 60m $(NORACE)

.PHONY: check
check: ## formatting, vet, lint, and whether what is generated is up to date
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "gofmt would change:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags=nomsgpack,browser ./web
	$(GO) mod tidy -diff
	$(GO) mod verify
	cd $(ORACLE) && $(GO) vet ./... && $(GO) mod tidy -diff && $(GO) mod verify
	$(MAKE) --no-print-directory lint generated

.PHONY: lint
lint: $(BIN)/golangci-lint-$(LINT_VERSION)
	$< run ./...
	cd $(ORACLE) && $< run ./...

$(BIN)/golangci-lint-$(LINT_VERSION):
	GOBIN=$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(BIN)/golangci-lint $@

REDOCLY := $(BIN)/redocly-$(REDOCLY_VERSION)

.PHONY: openapi
openapi: $(REDOCLY) ## the API's description by a public linter; needs npm
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $</node_modules/.bin/redocly lint api/openapi.json

$(REDOCLY):
	npm install --prefix $@.new --no-audit --no-fund --ignore-scripts @redocly/cli@$(REDOCLY_VERSION)
	mv $@.new $@

AXE := $(BIN)/axe-$(AXE_VERSION)-$(PUPPETEER_VERSION)
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

.PHONY: browser
browser: $(AXE) ## the pages in a browser, by axe too; needs npm and Chromium; SHOTS=DIR keeps pictures
	@test -n '$(CHROMIUM)' || { echo "there is no Chromium: set CHROMIUM to its path"; exit 1; }
	$(GO) test -tags=nomsgpack,browser -count=1 -timeout 15m -run TestInABrowser -v ./web -args -modules $< -chromium '$(CHROMIUM)' -shots '$(SHOTS)'

$(AXE):
	npm install --prefix $@.new --no-audit --no-fund --ignore-scripts axe-core@$(AXE_VERSION) puppeteer-core@$(PUPPETEER_VERSION)
	mv $@.new $@

.PHONY: vulns
vulns: $(BIN)/govulncheck-$(VULN_VERSION) ## known vulnerabilities that the service can reach, where their database can be asked
	@.ci/vulns-check
	GOVULNCHECK=$< .ci/vulns

$(BIN)/govulncheck-$(VULN_VERSION):
	GOBIN=$(BIN) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)
	mv $(BIN)/govulncheck $@

.PHONY: generate
generate: ## write again what is generated
	$(GO) generate ./...

.PHONY: zones
zones: ## take the time zones of the installed Go into the binary
	ZONES=refresh $(GO) generate ./window

.PHONY: generated
generated: generate
	@git diff --exit-code || { echo "what is generated is not up to date: run make generate"; exit 1; }

.PHONY: bench
bench: ## the figures, each with its baseline in the same run
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

.PHONY: figures
figures: ## measure times, memory and pace, for docs/performance.md; PART=0.1 is quick
	$(GO) test -count=1 -timeout 60m -run 'TestFigure' ./cmd/sluice -v -figures
	$(GO) test -count=1 -timeout 60m -run 'Figure|PerOpening|AtGitHubsPace|AsManyOf' ./test/e2e -v -figures -part $(PART)

.PHONY: day
day: ## replay a day of a busy organisation; PART=0.1 is a tenth of it, on a tenth of GitHub's hour
	$(GO) test -count=1 -timeout 3h -run 'TestADay' -v ./test/hour -day $(PART)

.PHONY: oracle
oracle: ## ask the code that Flux is made of about TREES (1000) random trees: what its windowed entry points read and are
	cd $(ORACLE) && $(GO) test -count=1 -timeout 0 -run TestOracle . -trees $(TREES) -seed $(SEED) -shrink

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (30s), and attack WORLDS (10000) random worlds
	@GO='$(GO)' FUZZTIME='$(FUZZTIME)' FUZZJOBS='$(FUZZJOBS)' .ci/fuzz
	$(GO) test -count=1 -timeout 0 -run TestWorlds ./test/attack -worlds $(WORLDS) -seed $(SEED) -shrink
	$(GO) test -count=1 -timeout 0 -run TestForests ./test/attack -forests $$(($(WORLDS) / 50)) -seed $(SEED)
	$(GO) test -count=1 -timeout 0 -run TestSentence ./outbox -tables $$(($(WORLDS) * 10)) -seed $(SEED)
	cd $(ORACLE) && GO='$(GO)' FUZZTIME='$(FUZZTIME)' FUZZJOBS=1 ../../.ci/fuzz
	$(GO) test -count=1 -timeout 0 -run TestSentence ./test/hour -worlds $$(($(WORLDS) / 20)) -seed $(SEED)
