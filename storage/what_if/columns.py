"""Columns of the calls that a simulated server serves."""

from __future__ import annotations

import pyarrow as pa

CALLS = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "at": pa.uint64(),
            "replied": pa.uint64(),
            "stream": pa.uint32(),
            "connection": pa.uint32(),
            "class": pa.uint8(),
            "file": pa.uint32(),
            "target": pa.uint32(),
            "directory": pa.uint8(),
            "hints": pa.uint8(),
            "offset": pa.uint64(),
            "bytes": pa.uint32(),
            "end": pa.uint64(),
            "stable": pa.uint8(),
        }.items()
    ]
)
"""Times of call and reply (ns); caller and connection; class (a number of `CLASSES`); file or
directory; the other one that it finds, makes or removes (0: none), whether that is a directory, and
its hints; first byte, number of bytes, the file's length afterwards (for calls that set attributes:
if they set it), and whether a write is stable."""

CLASSES = (
    *("getattr", "setattr", "lookup", "access", "read", "write"),
    *("commit", "create", "remove", "rename", "list", "other"),
)
"""Classes of calls; calls of one class have similar service times."""

UNKNOWN = 2**64 - 1
"""For ``replied``: no reply was seen; for ``end``: the length is not known."""
