"""Benchmarks of Linux file systems, in a virtual machine."""
