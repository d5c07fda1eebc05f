"""The files and directories of a generated server, and their current state."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Ints

HANDLE = np.dtype([("fsid", ">u8"), ("fileid", ">u8"), ("generation", ">u4"), ("export", ">u4")])
"""The bytes of a handle."""

FSID = 0x42495254484D4152  # BIRTHMAR, in ASCII
_FIRST_FILEID = 64

FILE, DIRECTORY = 1, 2

_COLUMNS = {
    "fileid": np.int64,
    "ftype": np.uint8,
    "mode": np.uint32,
    "owner": np.uint32,
    "group": np.uint32,
    "nlink": np.int64,
    "size": np.int64,
    "atime": np.int64,
    "mtime": np.int64,
    "ctime": np.int64,
}


class Objects:
    """Objects by slot. A slot is reused once nothing will name its object; handles never are.

    `columns` has an array for each attribute; `names` the names of created files, by slot.
    """

    def __init__(self) -> None:
        self.columns: dict[str, npt.NDArray[Any]] = {
            name: np.zeros(1024, kind) for name, kind in _COLUMNS.items()
        }
        self.names: dict[int, bytes] = {}
        self._free: list[int] = []
        self._used = 0
        self._fileids = _FIRST_FILEID

    def add(self, count: int, **columns: Any) -> Ints:
        """Make objects with one link, and the attributes given; return their slots."""
        slots = np.empty(count, np.int64)
        again = min(count, len(self._free))
        if again:
            slots[:again] = self._free[-again:]
            del self._free[-again:]
        slots[again:] = np.arange(self._used, self._used + count - again)
        self._used += count - again
        self._grow()
        given = {"ftype": FILE, "nlink": 1, "size": 0} | columns
        given["fileid"] = np.arange(self._fileids, self._fileids + count)
        self._fileids += count
        for name, values in given.items():
            self.columns[name][slots] = values
        return slots

    def release(self, slots: Ints) -> None:
        """Free objects that nothing will name again."""
        for slot in slots.tolist():
            self.names.pop(slot, None)
        self._free.extend(slots.tolist())

    def handles(self, slots: Ints, shown: Bools) -> pa.BinaryArray:
        """Return the handles of the objects in `slots` where `shown`, else nulls."""
        fileids = self.columns["fileid"][slots[shown]]
        packed = np.zeros(len(fileids), HANDLE)
        packed["fsid"], packed["fileid"], packed["export"] = FSID, fileids, 1
        packed["generation"] = (fileids * 2_654_435_761) & 0xFFFF_FFFF
        ends = np.zeros(len(slots) + 1, np.int32)
        np.cumsum(shown * HANDLE.itemsize, out=ends[1:])
        valid = pa.array(shown).buffers()[1]
        buffers = [valid, pa.py_buffer(ends.tobytes()), pa.py_buffer(packed.tobytes())]
        return pa.BinaryArray.from_buffers(pa.binary(), len(slots), buffers)

    def _grow(self) -> None:
        room = len(self.columns["fileid"])
        while self._used > room:
            room *= 2
        for name, values in self.columns.items():
            if len(values) < room:
                self.columns[name] = np.concatenate(
                    [values, np.zeros(room - len(values), values.dtype)]
                )
