# Every target calls the npm script of the same name: where there is no make, `npm run <target>` does the same.
.DEFAULT_GOAL := help
.PHONY: help up down reset doctor logs stack observe ha demo admin build docs lint format check test bench faults torture upgrade tools kube

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-9s %s\n", $$1, $$2 }'

up: ## start everything on this machine and keep it running until Ctrl-C (BUS=kafka|feed)
	@npm run up --silent -- $(if $(BUS),--bus $(BUS))
down: ## stop the running stack from another terminal
	@npm run down --silent
reset: ## delete the stack's data, keys and logs; asks first (YES=1: does not)
	@npm run reset --silent -- $(if $(YES),--yes)
doctor: ## say what is missing on this machine and how to fix it, and what the running stack uses
	@npm run doctor --silent
logs: ## follow the logs (SERVICE=auth: of one process)
	@npm run logs --silent -- $(SERVICE)
stack: ## look at, restart, stop or start one process of the running stack (DO="restart auth")
	@npm run stack --silent -- $(or $(DO),status)
observe: ## Prometheus with our alerts against the running stack, until Ctrl-C (CHECK=1: try every panel, then end)
	@npm run observe --silent -- $(if $(CHECK),--check)
ha: ## three PostgreSQL servers under Patroni behind one address, until Ctrl-C; needs root on Linux
	@npm run ha --silent
demo: ## show charges, payments, transfers and settlement on the running stack
	@npm run demo --silent
admin: ## run an operators' command of `npx wonrail` on the running stack (DO="org list")
	@npm run admin --silent -- $(or $(DO),--help)
build: ## generate from proto and compile
	@npm run build --silent
docs: ## write the generated reference pages (npm run docs:build builds the site)
	@npm run docs --silent
lint: ## oxlint and oxfmt
	@npm run lint --silent
format: ## let oxfmt write
	@npm run format --silent
check: ## the fast tests and guards: types, prose, spelling, lint, proto, unit; no I/O
	@npm run check --silent
test: ## all tests, as CI runs them (ONLY=unit,int: some stages)
	@npm test --silent -- $(if $(ONLY),--only $(ONLY))
bench: ## speed and memory, as ratios within one run
	@npm run bench --silent
faults: ## kill parts of the system and check that no money is lost or moved twice
	@npm run faults --silent
torture: ## run the whole system under 50,000 operations and 60 faults of a seed (SEED=7: repeat a run)
	@npm run torture --silent -- --ops 50000 --faults 60 --brokers 3 --known $(if $(SEED),--seed $(SEED))
upgrade: ## run this release's migrations while the previous release serves customers (FROM=<commit or tag>)
	@npm run upgrade --silent -- $(FROM)
tools: ## build helm 3 and 4, helm-unittest and kubeconform with Go, for the tests of the chart
	@npm run tools --silent
kube: ## try the chart on the cluster that KUBECONFIG names, from install to uninstall
	@npm run kube --silent
