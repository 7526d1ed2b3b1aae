# Warren's tasks. `make run` and `make test` need Go and nothing else.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION     ?=
DATA        ?= data
FUZZTIME    ?= 10s
KILLS       ?= 25
CUTS        ?= 30

# The binary is static, and the build needs no C compiler.
export CGO_ENABLED ?= 0

.PHONY: build run test race check fmt fuzz-short torture torture-control powercut powercut-control suites conformance compare cover clean

## build: bin/warren
build:
	$(GO) build -trimpath -ldflags '-s -w $(if $(VERSION),-X main.version=$(VERSION))' -o bin/warren ./cmd/warren

## run: a broker on 127.0.0.1:5672 and [::1]:5672, HTTP on 127.0.0.1:15672, data in ./data, user guest/guest
run: build
	exec bin/warren serve --data-dir $(DATA)

## test: the whole quick suite
test:
	$(GO) test ./...

## race: what runs on many goroutines, with the race detector, which needs a C compiler
race:
	CGO_ENABLED=1 $(GO) test -race -short ./admin/... ./amqp/... ./cmd/... ./keratin/... ./queue/...

## check: everything that must hold before a change is offered
check:
	@files=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
		if [ -n "$$files" ]; then echo "not formatted:"; echo "$$files"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -run 'Layering' -count=1 .
	$(GO) test ./...

fmt:
	gofmt -w $$(git ls-files -co --exclude-standard '*.go')

## fuzz-short: every fuzz target for FUZZTIME
fuzz-short:
	GO="$(GO)" .ci/fuzz $(FUZZTIME)

## torture: kill -9 a broker under load KILLS times, and look for confirmed messages that are gone
torture: build
	$(GO) run ./compat/torture -binary $(CURDIR)/bin/warren -kills $(KILLS)

## torture-control: the same must fail a broker that confirms before it writes
torture-control:
	$(GO) build -tags confirmearly -o bin/warren-confirmearly ./cmd/warren
	$(GO) run ./compat/torture -binary $(CURDIR)/bin/warren-confirmearly -control build -kills 10

## powercut: take the power away CUTS times on ext4 and on xfs; needs root, a loop device, e2fsprogs and xfsprogs, and
## exits with 2 (the program itself with 77) where it is not permitted
powercut: build
	$(GO) build -o bin/powercut ./compat/powercut
	bin/powercut -binary $(CURDIR)/bin/warren -cuts $(CUTS)

## powercut-control: the same must fail brokers that do not flush
powercut-control:
	$(GO) build -o bin/powercut ./compat/powercut
	bin/powercut -control

## suites: other people's client test suites, unmodified
suites: build
	$(GO) run ./compat/suites -binary $(CURDIR)/bin/warren

## conformance: everything a client sees, compared with RabbitMQ scenario by scenario; the report goes to bin/conformance
conformance: build
	mkdir -p bin/conformance
	$(GO) run ./compat/conformance -binary $(CURDIR)/bin/warren -against rabbitmq-3.10,rabbitmq-4 -out bin/conformance

## compare: Warren beside RabbitMQ, driven by the same generators; the report goes to bin/compare
compare: build
	mkdir -p bin/compare
	$(GO) run ./compat/compare -binary $(CURDIR)/bin/warren -out bin/compare

cover:
	$(GO) test -coverprofile=coverage.out ./... && $(GO) tool cover -func=coverage.out | tail -1

clean:
	rm -rf bin coverage.out
