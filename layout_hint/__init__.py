"""Steering a file system's allocator with predictions, and measuring the effect."""

from pathlib import Path

INCLUDE = Path(__file__).parent / "include"
"""The folder of ``birthmark.h``, for a compiler's ``-I``."""

AskedCreate = tuple[bytes | None, bool, tuple[int | None, int | None, int | None], int | None]
"""A create that a hook asks a service about: its name, whether it is a directory, its mode, uid and
gid, and the hour of the day, UTC; None where it is not known."""
