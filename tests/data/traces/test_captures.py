"""Captures decoded as independent decoders decode them, whole and damaged."""

from __future__ import annotations

import json
import lzma
import re
import struct
from bisect import bisect_right
from collections import defaultdict
from pathlib import Path

import pytest

from birthmark.data.traces.reader import open_trace

# (v3 calls, replies) by three independent decoders, as the README beside the captures has them.
# Ours differ where the note says why.
REFERENCE = {
    # nfsdump counts it too: the first fragment holds the whole header and all arguments
    "1-packet": (1, 0),
    "2sessions-tcp-wsize32k-tcp-wsize512k": (413, 413),
    "eth-ipv4-tcp-nfsv3": (3331, 3331),
    "eth-ipv4-udp-nfsv3": (58, 58),
    # one more reply's call came before the capture began
    "eth-ipv4-udp-nfsv3-reply-first": (57, 57),
    # two ACCESS calls follow damaged packets of the server (a SYN with data, an RST with data),
    # after which tshark and nfstrace stop reading RPC; their bytes are complete
    "eth-ipv6-tcp-nfsv3-bad_alloc": (28_181, 28_181),
    "lo-ipv4-tcp-nfsv3-nfsacl": (7, 7),
    "eth-ipv4-tcp-smb2-putty": (0, 0),
    # version 4: COMPOUND and NULL
    "eth-ipv4-tcp-nfsv4": (1607, 1607),
    "eth-ipv4-tcp-nfsv41": (526, 526),
    # two of its replies are refusals of the caller's credentials, which tshark does not count
    "eth-ipv4-tcp-nfsv4-incorrect_mount": (3, 3),
}
CAPTURES = ["tiny.pcap", "section", "fusenfs_v3", "day1", "day2", "day3"]


def facts(path: Path) -> dict[str, tuple[int, ...]]:
    """Calls, replies, OK and errors by procedure, as tshark counted them."""
    rows = re.findall(r"^([A-Z]+) +(\d+) +(\d+) +(\d+) +(\d+)$", path.read_text(), re.MULTILINE)
    return {name.lower(): tuple(map(int, numbers)) for name, *numbers in rows}


def capture(shared: Path, name: str) -> Path:
    return shared / "captures" / (name if name.endswith("pcap") else f"{name}.pcap.xz")


@pytest.mark.parametrize("name", CAPTURES)
def test_counts_per_procedure_equal_tsharks(shared: Path, name: str) -> None:
    trace = open_trace(capture(shared, name))
    rows = sum(batch.num_rows for batch in trace)
    counts = trace.counts()
    ours = {
        op: (tally["calls"], tally["replies"], tally["ok"], tally["errors"])
        for op, tally in counts["procedures"].items()
    }
    expected = facts(shared / "captures" / f"{name.removesuffix('.pcap')}.facts.txt")
    assert len(expected) > 10
    assert ours == expected
    assert rows == sum(calls for calls, *_ in expected.values())
    assert (counts["damaged"], counts["orphans"], counts["short"]) == ({}, {}, 0)


@pytest.mark.parametrize("name", REFERENCE)
def test_counts_equal_other_decoders_on_another_projects_captures(shared: Path, name: str) -> None:
    trace = open_trace(shared / "reference" / "pcap" / f"{name}.pcap.bz2")
    list(trace)
    tallies = trace.counts()["procedures"].values()
    found = (sum(each["calls"] for each in tallies), sum(each["replies"] for each in tallies))
    assert found == REFERENCE[name]


def packets(content: bytes) -> list[bytes]:
    """The packets of a little-endian pcap file, as far as captured."""
    found, at = [], 24
    while at + 16 <= len(content):
        (captured,) = struct.unpack_from("<I", content, at + 8)
        found.append(content[at + 16 : at + 16 + captured])
        at += 16 + captured
    return found


def to_server(content: bytes) -> dict[tuple[str, int], dict[int, bytes]]:
    """Payload towards port 2049 by connection (address, port) and sequence number."""
    streams: dict[tuple[str, int], dict[int, bytes]] = defaultdict(dict)
    for packet in packets(content):
        if len(packet) < 54 or struct.unpack_from(">H", packet, 36)[0] != 2049:
            continue
        data = packet[34 + (packet[46] >> 4) * 4 :]
        (sequence,) = struct.unpack_from(">I", packet, 38)
        source = ".".join(str(byte) for byte in packet[26:30])
        key = (source, struct.unpack_from(">H", packet, 34)[0])
        if len(data) > len(streams[key].get(sequence, b"")):
            streams[key][sequence] = data
    return streams


def test_surviving_calls_of_a_damaged_capture_are_read(shared: Path) -> None:
    whole = lzma.decompress(capture(shared, "section").read_bytes())
    damaged = lzma.decompress(capture(shared, "trouble").read_bytes())
    losses = json.loads((shared / "captures" / "trouble.json").read_text())
    assert losses["dropped"] > 1000
    left = {key: stretches(segments) for key, segments in to_server(damaged).items()}
    surviving: set[tuple[str, int]] = set()
    total = 0
    for connection, segments in to_server(whole).items():
        for sequence, record in records(segments).items():
            (xid, kind, _, program) = struct.unpack_from(">IIII", record, 4)
            if kind == 0 and program == 100_003:
                total += 1
                if survived(left[connection], sequence, len(record)):
                    surviving.add((connection[0], xid))
    trace = open_trace(capture(shared, "trouble"))
    decoded = {
        (row["client"], row["xid"])
        for batch in trace
        for row in batch.select(["client", "xid"]).to_pylist()
    }
    assert total == 28_757  # the calls of the section
    assert 26_000 < len(surviving) < total
    assert len(surviving & decoded) >= 0.98 * len(surviving)
    counts = trace.counts()
    assert counts["capture"]["missing_bytes"] > 0
    assert counts["short"] > 0


def records(segments: dict[int, bytes]) -> dict[int, bytes]:
    """RPC records of a whole stream by sequence number (RFC 5531, section 11)."""
    found, stream = {}, b"".join(segments[at] for at in sorted(segments))
    start, at = min(at for at in segments if segments[at]), 0
    while at + 4 <= len(stream):
        length = struct.unpack_from(">I", stream, at)[0] & 0x7FFF_FFFF
        found[start + at] = stream[at : at + 4 + length]
        at += 4 + length
    return found


def stretches(segments: dict[int, bytes]) -> list[tuple[int, int]]:
    """The captured sequence numbers, as ranges without a gap."""
    found: list[tuple[int, int]] = []
    for start in sorted(at for at in segments if segments[at]):
        end = start + len(segments[start])
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def survived(ranges: list[tuple[int, int]], start: int, length: int) -> bool:
    """Whether all bytes of a record were captured."""
    at = bisect_right(ranges, start, key=lambda each: each[0]) - 1
    return at >= 0 and start + length <= ranges[at][1]
