"""Images that all processes of a service share in memory."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pyarrow as pa

from birthmark.data.common import durable

SHARED = "BIRTHMARK_SHARED"
"""The environment variable that names the directory of the shared images."""

MOST_IMAGES = 4
"""The most images at once: one answers, others may be about to replace it or be replaced."""


def shared_buffer(content: bytes) -> pa.Buffer:
    """Return an image from the file that all workers of this service map.

    The file is a copy, so that changes of the registry's file do not reach the mapping.
    """
    directory = os.environ.get(SHARED)
    if directory is None:
        return pa.py_buffer(content)
    path = Path(directory) / f"{hashlib.sha256(content).hexdigest()}.image"
    try:
        # Without the lock two workers could map different files.
        with durable.locked(path.with_name(".lock")):
            if not path.exists():
                with durable.replaced(path) as incoming:
                    incoming.write_bytes(content)
            with pa.memory_map(str(path)) as mapped:
                buffer = mapped.read_buffer()
            _remove_oldest(path)
    except OSError:  # the disk is full
        return pa.py_buffer(content)
    return buffer


def _remove_oldest(path: Path) -> None:
    """Remove the oldest images; existing mappings of them stay valid."""
    path.touch()
    images = sorted(path.parent.glob("*.image"), key=lambda image: image.stat().st_mtime_ns)
    for image in images[:-MOST_IMAGES]:
        image.unlink(missing_ok=True)
