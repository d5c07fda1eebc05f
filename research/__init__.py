"""Simulations behind published claims, generated traces, and replay on a real file system.

`validate`, `block_replay`, `attached` and `papers` simulate drives and systems of them. `workloads`
generates traces. `replay` performs a trace on a file system.
"""
