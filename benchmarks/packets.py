"""The packets of a capture, to be played in their order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from birthmark.data.common.arrays import Bytes, Floats, Ints

HEADER, RECORD = 24, 16
"""Bytes of a pcap file's header, and of a packet's."""
UNITS = {b"\xd4\xc3\xb2\xa1": 10**6, b"\x4d\x3c\xb2\xa1": 10**9}
"""Fractions of a second of a capture's times, by its magic number."""


class Packets:
    """The packets of a capture: where each begins, and when it passed.

    ``times`` are in microseconds since the epoch, ``seconds`` since the first packet. Exits where
    the file is no pcap capture, little-endian and not compressed.
    """

    def __init__(self, path: Path) -> None:
        self.content: Bytes = np.memmap(path, np.uint8, "r")
        self.unit = UNITS.get(bytes(self.content[:4]), 0)
        if not self.unit:
            raise SystemExit(f"{path}: expected a little-endian pcap capture")
        begins = list(self._begins())
        self.begins: Ints = np.array(begins, dtype=np.int64)
        numbers = self._numbers(self.begins[:-1])
        self.times: Ints = numbers[:, 0] * 10**6 + numbers[:, 1] * 10**6 // self.unit
        self.seconds: Floats = numbers[:, 0] + numbers[:, 1] / self.unit
        self.seconds -= self.seconds[:1]

    @property
    def header(self) -> bytes:
        """The file's header, before its packets."""
        return self.content[:HEADER].tobytes()

    def __len__(self) -> int:
        return len(self.times)

    def _begins(self) -> Iterator[int]:
        at = HEADER
        while at + RECORD <= len(self.content):
            yield at
            at += RECORD + int.from_bytes(self.content[at + 8 : at + 12].tobytes(), "little")
        yield at

    def _numbers(self, begins: Ints) -> Ints:
        places = begins[:, None] + np.arange(8)
        return np.asarray(self.content[places].view("<u4").astype(np.int64))

    def as_captured(self, first: int, last: int) -> bytes:
        """Return the packets from ``first`` to before ``last`` as the capture has them."""
        return self.content[self.begins[first] : self.begins[last]].tobytes()

    def stamped(self, first: int, last: int, times: Floats) -> bytes:
        """Return the same as if they had passed at ``times``, seconds since the epoch."""
        begin = self.begins[first]
        part = self.content[begin : self.begins[last]].copy()
        whole = np.floor(times)
        stamps = np.column_stack([whole, (times - whole) * self.unit]).astype("<u4")
        places = (self.begins[first:last] - begin)[:, None] + np.arange(8)
        part[places] = stamps.view(np.uint8).reshape(-1, 8)
        return part.tobytes()
