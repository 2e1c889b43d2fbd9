# Only Go and make are assumed. `make help` lists the targets.

GO       ?= go
FUZZTIME ?= 5s
BENCH    ?= .
PKG      ?= ./...
SHARED   ?= ../shared

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/proofmill/proofmill/cmd/proofmill/internal/version.number=$(VERSION)
CACHE   := .cache
LINT    := $(CACHE)/bin/golangci-lint
VULN    := $(CACHE)/bin/govulncheck
ORACLE  := $(CACHE)/oracle/target/release/oracle

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/proofmill, without cgo
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/proofmill ./cmd/proofmill

.PHONY: demo
demo: build ## Prove a sealed test sector of each kind through the pipeline, in one process
	bin/proofmill demo

.PHONY: test
test: ## Vet, and run every test (PKG=./pkg/... for a part)
	$(GO) vet $(PKG)
	$(GO) test -timeout 40m $(PKG)

.PHONY: quick
quick: ## Vet, and run the short tests (under three minutes)
	$(GO) vet $(PKG)
	$(GO) test -short -timeout 10m $(PKG)

.PHONY: race
race: ## Run the short tests of packages with goroutines under the race detector (needs a C compiler)
	GO='$(GO)' tools/race.sh

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (5s)
	GO='$(GO)' FUZZTIME='$(FUZZTIME)' tools/fuzz.sh

.PHONY: bench
bench: ## Run the Go benchmarks (BENCH=regexp, PKG=packages)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m $(PKG)

.PHONY: lint
lint: $(LINT) ## Check style and import rules (builds golangci-lint once, some minutes)
	$(LINT) config verify
	$(LINT) run $(PKG)

.PHONY: vuln
vuln: $(VULN) ## Look for known vulnerabilities that the code can reach (needs the network)
	@VULN='$(VULN)' tools/vuln.sh $(PKG)

.PHONY: tidy
tidy: ## Check that go.mod and go.sum say what the code needs
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff

.PHONY: generate
generate: ## Make the generated code again
	$(GO) generate ./...

.PHONY: cuda-check
cuda-check: ## Compile the CUDA code with the pinned nvcc (no card needed), and test what runs on the host
	tools/cuda-check.sh

.PHONY: device-carry
device-carry: build ## Build what tools/device.sh needs on a machine without Go
	CGO_ENABLED=0 $(GO) test -c -trimpath -ldflags '-s -w' -o build/gpu.test ./pkg/gpu
	echo "$$(git rev-parse --short HEAD)$$(git diff --quiet HEAD -- cuda pkg cmd || echo -dirty)" >build/device.commit

.PHONY: device-test
device-test: ## On a machine with a card: test the CUDA library, golden proofs, doctor; JSON in docs/performance
	tools/device.sh test

.PHONY: device-bench
device-bench: ## On a machine with a card: measure it; JSON in docs/performance
	tools/device.sh bench

.PHONY: oracle
oracle: ## Build the reference program of SHARED (needs Rust; only slow checks use it)
	@test -d $(SHARED)/oracle || { echo "oracle: no sources in $(SHARED)/oracle; set SHARED"; exit 1; }
	@command -v cargo >/dev/null || { echo "oracle: cargo is not installed; see https://rustup.rs"; exit 1; }
	mkdir -p $(CACHE)/oracle
	cp -R $(SHARED)/oracle/. $(CACHE)/oracle/
	cargo build --release --manifest-path $(CACHE)/oracle/Cargo.toml

# The slow tests alone, by name: the others of their packages are those of `make test`.
SLOW     := ProductionSize|OfProduction|Network|Real|ReferenceAccepts|ReferenceVerifies|ThroughThePipeline
SLOWPKG  := ./pkg/circuit ./pkg/filecoin ./pkg/sample ./services ./test/reference
SLOWENV   = PROOFMILL_SHARED='$(abspath $(SHARED))' PROOFMILL_ORACLE="$${PROOFMILL_ORACLE:-$(abspath $(ORACLE))}"

.PHONY: slow
slow: ## Run the slow tests, which read SHARED (golden facts, the oracle); about 15 minutes
	PROOFMILL_SLOW=1 $(SLOWENV) $(GO) test -timeout 40m -run '$(SLOW)' $(SLOWPKG)

.PHONY: slow-all
slow-all: ## Run every test with every constraint of 32 and 64 GiB samples; an hour
	PROOFMILL_SLOW=all $(SLOWENV) $(GO) test -timeout 90m $(PKG)

.PHONY: bench-reference
bench-reference: ## Compare speed with the reference in one run (KINDS=winning,window,porep); the machine must be idle
	PROOFMILL_REFERENCE_KINDS='$(KINDS)' $(SLOWENV) $(GO) test -run '^$$' -bench AgainstReference -benchtime 3x -timeout 60m ./test/reference

.PHONY: clean
clean: ## Remove what was built, but not the test parameters
	rm -rf bin $(CACHE)/bin $(CACHE)/oracle

# The tools have a module of their own: their versions are pinned, and none of their dependencies are ours.
$(LINT): tools/go.mod tools/go.sum
	$(GO) -C tools build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(VULN): tools/go.mod tools/go.sum
	$(GO) -C tools build -o ../$@ golang.org/x/vuln/cmd/govulncheck
