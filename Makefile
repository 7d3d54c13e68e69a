# make run    opens the built-in toolbox in the terminal: the main job, on nothing but Go
# make test   runs every test; the ones with npm servers where Node is installed
# make lint, make bench, make e2e, make pairings, make fault-pairings, make load, make load-people, make clients, make fuzz, make torture TIME=60s, make diff, make conformance, make soak-login
# make bench-search DATA=folder, make bench-page, make screenshots
# make snapshot, make sign KEY=file, make release-check, make vulnerabilities
# make bench DATA=docs/performance.json && make performance
# make bench BEFORE=other/mcp-workbench

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1.0-dev)
LDFLAGS := -s -w -X github.com/mcp-workbench/mcp-workbench/internal/cli.Version=$(VERSION) \
  -X github.com/mcp-workbench/mcp-workbench/internal/cli.commit=$(shell git rev-parse HEAD 2>/dev/null) \
  -X github.com/mcp-workbench/mcp-workbench/internal/cli.date=$(shell git log -1 --format=%cI 2>/dev/null)
GOTOOL  := go tool -modfile=tools/go.mod
FUZZTIME ?= 20s
TIME ?= 60s
CLIENTS ?= 1000
CALLS ?= 10
HOSTILE ?= 500
PEOPLE ?= 1000
PEOPLE_TIME ?= 40s
SOAK ?= 10m
SECONDS_EACH ?= 5

# The first five minutes of a user, in a terminal, as an animated picture for the README.
demo:
	go test -count=1 ./test/terminal -demo '$(CURDIR)/docs/demo.svg'

.PHONY: demo run build test e2e pairings fault-pairings clients load load-people soak-login lint bench performance bench-search bench-page screenshots fuzz torture conformance diff cross snapshot sign release-check vulnerabilities wine clean

run: build
	bin/mcp-workbench try

# The Windows binary under Wine, which is installed where it is missing.
wine:
	test/wine/run

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/mcp-workbench ./cmd/mcp-workbench

# The tests of whole workbenches one package after another: each of them fills a machine.
test:
	go test -race $$(go list ./... | grep -v /test/)
	go test -race -p 1 ./test/...

e2e:
	go test -race -count=1 -v ./test/e2e/

# The contract scripts over every pairing of transports, above and below the workbench.
# In the folder itself, since go test shows what a passing test prints only there.
pairings:
	cd test/script && PAIRING=all go test -count=1 -timeout 20m -run TestPairings

# The rows of the faults over every pairing of transports but the one that make test has.
# Without the race detector, which would see the tests only, and not the workbench.
fault-pairings:
	FAULTS_PAIRING=all go test -count=1 -timeout 20m ./test/faults/

# Many clients of one workbench over HTTP, and then healthy ones among hostile ones: HOSTILE connections of each kind
# of stranger, and tokens that take what they can get. It prints figures, and fails for a wrong answer or too much
# memory, never for the time it took.
load:
	cd test/load && LOAD_CLIENTS=$(CLIENTS) LOAD_CALLS=$(CALLS) LOAD_HOSTILE=$(HOSTILE) LOAD_HOSTILE_SECONDS=10 \
		go test -count=1 -timeout 30m -run 'TestManyClients|TestHostileClients'

# Many people of an identity provider, whose tokens end again and again while the provider goes away, and others who try to
# get in. PEOPLE_TIME=5m is the long form, in which the provider is away for a minute.
load-people:
	cd test/load && LOAD_PEOPLE=$(PEOPLE) LOAD_PEOPLE_TIME=$(PEOPLE_TIME) go test -count=1 -timeout 30m -run TestManyPeople

# Twenty workbenches share one login whose tokens last seconds, and are killed at random; see test/soak.
soak-login:
	cd test/soak && SOAK_TIME=$(SOAK) go test -count=1 -timeout 60m -v -run TestOneLoginOfManyProcesses

lint:
	$(GOTOOL) golangci-lint run ./...
	$(GOTOOL) deadcode -test ./...
	cd tools/release && go tool -modfile=../go.mod golangci-lint run --config ../../.golangci.yml ./...

# With BEFORE=FILE, the binary of another version is measured in the same rounds, and the last table of each lane
# compares the two.
bench: build
	go build -o bin/bench ./test/bench
	go test -run '^$$' -bench . -benchtime 200ms ./internal/mcp/wire/
	go test -run '^$$' -bench BenchmarkObserved -benchtime 2s ./internal/gateway/front/
	bin/bench -binary bin/mcp-workbench -before '$(BEFORE)' -data '$(DATA)'

# The tables and the chart of docs/performance.md, of what make bench DATA=docs/performance.json found.
performance:
	go build -o bin/bench ./test/bench
	bin/bench page docs/performance.json docs/performance.md
	bin/bench chart docs/performance.json docs/performance.svg

# How well the search ranks the tools of a folder; test/searchbench says what the folder holds.
bench-search:
	@go run ./test/searchbench -data '$(DATA)' $(if $(PART),-part $(PART))

# What the page costs a browser when 1,000 servers change ten times a second. It fails for counts only, never for a time.
bench-page:
	PAGE_CROWD_SECONDS=$(SECONDS_EACH) go test -count=1 -timeout 10m -v -run TestCrowd ./test/page

# The pictures of docs/page.md, of a real session.
screenshots:
	go test -count=1 -timeout 10m -run TestViewsAndActions ./test/page -update

# Real clients from npm, with a stand-in for the model; some hundred megabytes each. With NEWEST=1 the newest of each,
# with PIN=1 as well they are the pinned ones from then on. SHORT=1 leaves out what is much like another, UPDATE=1 writes the table of docs/clients.md, and
# ONLY=codex runs one. In the folder itself, since go test shows what a passing test prints only there.
clients:
	cd test/clients && CLIENTS_RUN=$(if $(NEWEST),newest,pinned) CLIENTS_SHORT=$(SHORT) CLIENTS_PIN=$(PIN) CLIENTS_UPDATE=$(UPDATE) \
		go test -count=1 -timeout 40m $(if $(ONLY),-v -run 'Test(Agents|PlainClients|PromptsAndResources|ReadingNeedsNoApproval)/$(ONLY)')

# Each fuzz target by itself, since go test runs only one at a time.
fuzz:
	@for package in $$(go list ./internal/...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

# Servers that misbehave, callers that do not stop, kill -9; the last line counts.
torture: build
	go build -o bin/torture ./test/torture
	bin/torture -binary bin/mcp-workbench -time $(TIME)

# The conformance suite of MCP, directly and through the workbench, into docs/conformance.md. With CHECK=1
# nothing is written: it fails if the workbench does worse than what is below it, or than that page says.
conformance: build
	go build -o bin/conformance ./test/conformance
	bin/conformance -binary bin/mcp-workbench $(if $(CHECK),-check)

# Every message of a session, directly and through the workbench, byte for byte.
diff:
	go test -race -count=1 -v ./test/diff/

# The platforms that are released, built and vetted. With -trimpath, since releases are built with it, and find
# everything compiled then.
cross:
	@for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do \
		echo "build and vet $$platform"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd/mcp-workbench && \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0 go vet -trimpath ./... || exit 1; \
	done

# All packages of a release into dist, by the description in .goreleaser.yaml, without goreleaser.
snapshot:
	go build -C tools/release -o ../../bin/release .
	bin/release snapshot

# The signature of the checksums in dist, which hold for all packages, with a key of `minisign -G`.
sign:
	@test -n '$(KEY)' || { echo 'make sign KEY=FILE: the secret key that minisign -G made'; exit 1; }
	minisign -S -s '$(KEY)' -m dist/*_checksums.txt

# The packages made twice and compared, installed in clean folders, and tried.
release-check: snapshot
	cd tools/release && go vet ./... && RELEASE_DIST='$(CURDIR)/dist' go test -count=1 -timeout 30m ./...

# Known vulnerabilities in what the program calls. Fails for a finding; says so if it could not look. VULNDB=URL asks
# another database than that of Go.
vulnerabilities:
	@mkdir -p bin
	@$(GOTOOL) govulncheck $(if $(VULNDB),-db $(VULNDB)) ./cmd/... >bin/vulnerabilities.txt 2>&1; code=$$?; cat bin/vulnerabilities.txt; \
	if [ $$code -ne 0 ] && grep -q '^govulncheck: fetching vulnerabilities' bin/vulnerabilities.txt; then \
		echo 'SKIPPED: the vulnerability database cannot be reached from here, so nothing was checked.'; \
	else exit $$code; fi

clean:
	rm -rf bin dist
