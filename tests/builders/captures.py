"""Captures of a few packets, made by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence

CLIENT, SERVER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
PORT, NFS_PORT = 700, 2049
ACK = 16
BEGAN = 1_000_000_000
"""The time of the first packet, in seconds since the epoch."""


def pcap(frames: Sequence[bytes]) -> bytes:
    """Return a capture of Ethernet frames, a millisecond apart."""
    content = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    for number, frame in enumerate(frames):
        content += struct.pack("<IIII", BEGAN, number * 1000, len(frame), len(frame)) + frame
    return content


def segment(payload: bytes, sequence: int = 1) -> bytes:
    """Return the frame of a TCP segment that a client sends to NFS's port."""
    tcp = struct.pack(">HHIIBBHHH", PORT, NFS_PORT, sequence, 0, 0x50, ACK, 0xFFFF, 0, 0) + payload
    length = 20 + len(tcp)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length, 9, 0, 64, 6, 0) + CLIENT + SERVER
    return bytes(12) + b"\x08\x00" + ip + tcp


def tls(records: int, length: int = 500) -> bytes:
    """Return a capture of a client that sends TLS records to NFS's port."""
    record = struct.pack(">BHH", 23, 0x0303, length) + bytes([0x5A]) * length
    return pcap([segment(record, 1 + n * len(record)) for n in range(records)])
