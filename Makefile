# The commands of the project; `make` alone lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup firmware firmware-test demo test lint build clean

ERRAND ?=
SEED ?= 1
SIM ?= mujoco
# Through the environment, so that an apostrophe or a quote in an order stays what it is.
export ERRAND SEED SIM
# Extra arguments of pytest, e.g. make test ARGS="-k reflex"
ARGS ?=

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | while IFS='|' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

setup: ## install everything (quick when nothing changed)
	@scripts/setup

firmware: setup ## build the brainstem's firmware and the emulated board
	@$(MAKE) --no-print-directory -C firmware/port

firmware-test: firmware ## proofs, fuzzing, static checks and scenarios of the firmware with their figures (ten minutes)
	@export ANIMA_ROOT="$$PWD"; . scripts/env.sh && $(MAKE) --no-print-directory -C firmware test && pytest -q tests/firmware

demo: setup $(if $(filter firmware,$(SIM)),firmware) ## start the robot; ERRAND="bring the red cube to the kitchen table" SEED=3 runs one errand
	@./anima demo --sim "$$SIM" --seed "$$SEED" $${ERRAND:+--errand "$$ERRAND"}

test: firmware ## lint, type check and all tests; ARGS="-k reflex" goes to pytest
	@scripts/check $(ARGS)

lint: setup ## lint and type check only
	@scripts/check --no-tests

build: setup ## rebuild the ROS 2 workspace even when nothing changed
	@scripts/setup --rebuild-workspace

clean: ## remove the workspace's products and the environment (caches in ~/.cache/anima stay)
	@rm -rf ros2_ws/build ros2_ws/install ros2_ws/log .venv .setup
