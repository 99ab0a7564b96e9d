# The commands of the project; `make` alone lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup setup-firmware setup-gazebo setup-tests firmware firmware-test demo test jazzy lint build clean

ERRAND ?=
SEED ?= 1
SIM ?= mujoco
# Through the environment, so that an apostrophe or a quote in an order stays what it is.
export ERRAND SEED SIM
# Extra arguments of pytest, e.g. make test ARGS="-k reflex"
ARGS ?=

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | while IFS='|' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

setup: ## install what the robot needs to run (quick when nothing changed)
	@scripts/setup

setup-firmware:
	@scripts/setup --firmware

setup-gazebo:
	@scripts/setup --gazebo

setup-tests: ## install what the tests need too
	@scripts/setup --tests

firmware: setup-firmware ## build the brainstem's firmware and the emulated board
	@$(MAKE) --no-print-directory -C firmware/port

firmware-test: setup-tests firmware ## proofs, fuzzing, static checks and scenarios of the firmware with their figures (ten minutes)
	@export ANIMA_ROOT="$$PWD"; . scripts/env.sh && $(MAKE) --no-print-directory -C firmware test && pytest -q tests/firmware

demo: setup $(if $(filter firmware,$(SIM)),firmware) $(if $(filter gazebo,$(SIM)),setup-gazebo) ## start the robot; ERRAND="bring the red cube to the kitchen table" SEED=3 runs one errand
	@./anima demo --sim "$$SIM" --seed "$$SEED" $${ERRAND:+--errand "$$ERRAND"}

test: setup-tests firmware ## lint, type check and all tests; ARGS="-k reflex" goes to pytest
	@scripts/check $(ARGS)

jazzy: ## build the workspace on ROS 2 Jazzy (wheels, Python 3.12) in an environment of its own, and run its tests
	@scripts/jazzy $(ARGS)

lint: setup-tests ## lint and type check only
	@scripts/check --no-tests

build: setup ## rebuild the ROS 2 workspace even when nothing changed
	@scripts/setup --rebuild-workspace

clean: ## remove the workspace's products and the environment (caches in ~/.cache/anima stay)
	@rm -rf ros2_ws/build ros2_ws/install ros2_ws/log .venv .venv-jazzy .setup
