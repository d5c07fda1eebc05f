"""A check that an Arrow stream is not compressed, before it is read.

A compressed buffer may grow a thousandfold when read, and Arrow sets no limit.
"""

from __future__ import annotations

import struct

import pyarrow as pa

_HEADER, _COMPRESSION = 2, 3
"""The numbers of ``Message.header`` and ``RecordBatch.compression`` in Arrow's ``Message.fbs``."""


def refuse_compressed(stream: bytes) -> None:
    """Raise ``ValueError`` if a record batch of a stream is compressed or malformed."""
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(stream)):
        if message.type == "record batch" and _is_compressed(memoryview(message.metadata)):
            raise ValueError("a batch is compressed")


def _is_compressed(metadata: memoryview) -> bool:
    try:
        header = _member(metadata, _offset(metadata, 0), _HEADER)
        if header is None:
            raise ValueError("a message without its header")
        batch = _offset(metadata, header)
        return _member(metadata, batch, _COMPRESSION) is not None
    except struct.error as error:
        raise ValueError("a message that is cut off") from error


def _offset(metadata: memoryview, place: int) -> int:
    """Return the target of the offset at `place` (FlatBuffers' ``uoffset_t``)."""
    return place + int(struct.unpack_from("<I", metadata, place)[0])


def _member(metadata: memoryview, table: int, number: int) -> int | None:
    """Return the position of a table's member by its number; None if it has none."""
    vtable = table - int(struct.unpack_from("<i", metadata, table)[0])
    (size,) = struct.unpack_from("<H", metadata, vtable)
    entry = 4 + 2 * number
    if entry + 2 > size:
        return None
    (place,) = struct.unpack_from("<H", metadata, vtable + entry)
    return table + place if place else None
