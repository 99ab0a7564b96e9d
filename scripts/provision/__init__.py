"""Brings a machine to the state in which Anima builds, tests and runs; standard library only, as it runs before anything is installed."""
