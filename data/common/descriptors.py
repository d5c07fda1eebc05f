"""File descriptors that are closed at the end of a block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def closing(descriptor: int) -> Iterator[int]:
    """Yield an open file's descriptor; close it however the block ends."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)
