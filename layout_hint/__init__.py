"""Steering a file system's allocator with predictions, and measuring the effect."""

from pathlib import Path

INCLUDE = Path(__file__).parent / "include"
"""The folder of ``birthmark.h``, for a compiler's ``-I``."""
