"""Images that the processes of one service have in memory once."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pyarrow as pa

from birthmark.data.common import durable

SHARED = "BIRTHMARK_SHARED"
"""The variable that names a directory of the service's own, for what its workers share."""

KEPT = 4
"""So many images are there at once: one answers, others may be on their way in or out."""


def shared(content: bytes) -> pa.Buffer:
    """Return an image as all workers of this service have it: from one file that they map.

    It is a copy, so that nothing that befalls the registry's own file changes what is mapped.
    """
    directory = os.environ.get(SHARED)
    if directory is None:
        return pa.py_buffer(content)
    path = Path(directory) / f"{hashlib.sha256(content).hexdigest()}.image"
    try:
        with durable.locked(
            path.with_name(".lock")
        ):  # else each of two might map a file of its own
            if not path.exists():
                with durable.replaced(path) as incoming:
                    incoming.write_bytes(content)
            with pa.memory_map(str(path)) as mapped:
                buffer = mapped.read_buffer()
            _forget(path)
    except OSError:  # no room
        return pa.py_buffer(content)
    return buffer


def _forget(path: Path) -> None:
    """Remove the oldest images: who has mapped them keeps them."""
    path.touch()
    images = sorted(path.parent.glob("*.image"), key=lambda image: image.stat().st_mtime_ns)
    for image in images[:-KEPT]:
        image.unlink(missing_ok=True)
