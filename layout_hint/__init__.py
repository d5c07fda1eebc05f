"""Steering a file system's allocator with predictions: so far the lookup and the allocator."""

from pathlib import Path

INCLUDE = Path(__file__).parent / "include"
"""The folder of ``birthmark.h``, for a compiler's ``-I``."""
