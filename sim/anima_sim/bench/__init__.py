"""Benchmarks: each measures one thing and says on what machine."""
