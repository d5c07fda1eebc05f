"""Make a large trace of a small one: its content again and again, as later traffic.

Every repetition has its times shifted by the sample's own length (text: by a second, into which
it is squeezed), its XIDs by one (in captures:
other clients' addresses), and its file handles changed in their first bytes, so that no
repetition shares a call or a file with another.

    python -m benchmarks.repeat SAMPLE OUT BYTES
"""

from __future__ import annotations

import argparse
import lzma
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from birthmark.data.traces.reader import open_trace

PCAP_HEADER, PACKET_HEADER = struct.Struct("<IHHiIII"), struct.Struct("<IIII")
PCAP_MAGIC = 0xA1B2C3D4
GAP = 1_000_000  # microseconds between repetitions of a capture
TEXT_SPAN = 1_000_000  # microseconds that a repetition of text is squeezed into
NFS_PORT = 2049
HANDLE_KEYS = {"fh", "fh2", "file"}


def read(path: Path) -> bytes:
    """Return a sample's bytes, decompressed if it is an ``.xz`` file."""
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def longest_stretch(lines: list[str], gap: float = 300.0) -> list[str]:
    """Return the longest run of lines in which the clock never jumps by more than ``gap`` s.

    A sample may hold excerpts of several days, which repeated would span millennia.
    """
    runs: list[list[str]] = [[]]
    last = None
    for line in lines:
        time = float(line.split(" ", 1)[0])
        if last is not None and abs(time - last) > gap:
            runs.append([])
        runs[-1].append(line)
        last = time
    return max(runs, key=len)


def text(sample: bytes) -> Iterator[bytes]:
    """Yield repetitions of nfsdump text, without end."""
    # names may hold any bytes
    each = [line.decode("latin-1") for line in sample.split(b"\n") if line[:1].isdigit()]
    lines = longest_stretch(each)
    stamps = [line.split(" ", 1)[0].partition(".") for line in lines]
    micros = [int(seconds) * 1_000_000 + int(fraction) for seconds, _, fraction in stamps]
    # a sample of a quiet minute becomes a second of a busy server
    first, span = min(micros), max(micros) - min(micros) + 1
    micros = [first + (time - first) * TEXT_SPAN // span for time in micros]
    words = [line.split(" ") for line in lines]
    handles = [
        [at for at in range(8, len(line) - 1) if line[at] in HANDLE_KEYS and len(line[at + 1]) > 15]
        for line in words
    ]
    repetition = 0
    while True:
        out = []
        for time, line, places in zip(micros, words, handles, strict=True):
            now = time + repetition * TEXT_SPAN
            fresh = line.copy()
            fresh[0] = f"{now // 1_000_000}.{now % 1_000_000:06d}"
            fresh[5] = f"{(int(line[5], 16) + repetition) & 0xFFFFFFFF:x}"
            for at in places:
                old = line[at + 1]
                fresh[at + 1] = f"{int(old[:8], 16) ^ repetition & 0xFFFFFFFF:08x}" + old[8:]
            out.append(" ".join(fresh))
        yield ("\n".join(out) + "\n").encode("latin-1")
        repetition += 1


def packets(sample: bytes) -> list[tuple[int, bytes, bytes]]:
    """Return a capture's packets: time in microseconds, lengths as packed, bytes."""
    found, at = [], PCAP_HEADER.size
    while at + PACKET_HEADER.size <= len(sample):
        seconds, micros, captured, length = PACKET_HEADER.unpack_from(sample, at)
        at += PACKET_HEADER.size
        lengths = struct.pack("<II", captured, length)
        found.append((seconds * 1_000_000 + micros, lengths, sample[at : at + captured]))
        at += captured
    return found


def handle_prefix(sample: Path) -> bytes:
    """Return the bytes that all file handles of a capture begin with."""
    handles: set[bytes] = set()
    for batch in open_trace(sample):
        handles.update(batch["fh"].drop_null().to_pylist())
    prefix = os.path.commonprefix(sorted(handles))  # noqa: RUF071 - bytes, not paths
    if len(prefix) < 8:
        raise SystemExit(f"{sample}: its file handles do not begin alike, so none can be changed")
    return prefix


def capture(sample: bytes, prefix: bytes) -> Iterator[bytes]:
    """Yield the header of a pcap file and then repetitions of its packets, without end.

    Connections must be new ones, or their sequence numbers would start over: the clients'
    addresses count the repetitions, which tells their calls apart without changing XIDs. What
    all handles begin with is changed too.
    """
    magic, *_, link = PCAP_HEADER.unpack_from(sample)
    if magic != PCAP_MAGIC or link != 1:
        raise SystemExit("only little-endian pcap files of Ethernet packets can be repeated")
    found = packets(sample)
    span = max(time for time, *_ in found) - min(time for time, *_ in found) + GAP
    yield sample[: PCAP_HEADER.size]
    repetition = 0
    while True:
        out = bytearray()
        fresh_prefix = prefix[:-4] + struct.pack("<I", repetition)
        for time, lengths, content in found:
            now = time + repetition * span
            out += struct.pack("<II", now // 1_000_000, now % 1_000_000) + lengths
            fresh = bytearray(content.replace(prefix, fresh_prefix))
            if content[12:14] == b"\x08\x00" and len(content) >= 38:
                to_server = struct.unpack_from(">H", content, 36)[0] == NFS_PORT
                client = 26 if to_server else 30
                fresh[client + 1] = (content[client + 1] + repetition) & 0xFF
                fresh[client + 2] = (content[client + 2] + (repetition >> 8)) & 0xFF
            out += fresh
        yield bytes(out)
        repetition += 1


def make(sample: Path, out: Path, size: int) -> None:
    """Write at least ``size`` bytes of repetitions."""
    content = read(sample)
    is_capture = content[:4] == struct.pack("<I", PCAP_MAGIC)
    parts = capture(content, handle_prefix(sample)) if is_capture else text(content)
    written = 0
    with out.open("wb") as file:
        for part in parts:
            written += file.write(part)
            if written >= size:
                return


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sample", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("bytes", type=lambda text: int(float(text)), help="such as 400e6")
    arguments = parser.parse_args()
    make(arguments.sample, arguments.out, arguments.bytes)


if __name__ == "__main__":
    main()
