"""Steering the allocator of a file system with predictions: the lookup in C, for now."""

from pathlib import Path

INCLUDE = Path(__file__).parent / "include"
"""The folder of ``birthmark.h``, for a compiler's ``-I``."""
