"""Peak memory of ``birthmark follow`` under traffic that is made to fill its memory.

    python -m benchmarks.hostile [KIND...] [--count 400000] [--json OUT] [-- OPTION...]

Each kind is a capture of NFS version 4 in which everything has the greatest length that the
protocol allows: names of 255 bytes, handles of 128, a user of its own for each call. What stands
behind ``--`` are options of ``birthmark follow``. All follow with a live history.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from struct import pack
from typing import Any

START = 1_700_000_000_000_000
"""When the traffic begins, in microseconds since the epoch."""
STEP = 500
"""Microseconds from one call to the next: 2,000 a second."""
GETFH, LINK, LOOKUP, OPEN, PUTFH, READDIR = 10, 11, 15, 18, 22, 26
CREATE, GETATTR, REMOVE, RENAME, SAVEFH = 6, 9, 28, 29, 32
"""Numbers of operations (RFC 7530 section 16)."""
SYMLINK = 5
"""NF4LNK: the type of a symbolic link."""

Part = tuple[int, bytes, bytes]
"""An operation: its number, arguments and results."""
Traffic = Iterator["Exchange"]


class Exchange:
    """A call of a compound and its reply.

    ``client`` and ``server`` are numbers of hosts. A kind may leave out the reply, or the call.
    """

    def __init__(
        self,
        number: int,
        parts: list[Part],
        client: int = 1,
        server: int = 1,
        program: int = 100003,
    ) -> None:
        self.number, self.parts, self.client, self.server = number, parts, client, server
        self.program = program
        self.has_call = self.has_reply = True

    def only(self, part: str) -> Exchange:
        """Return it without its other message."""
        self.has_call, self.has_reply = part == "call", part == "reply"
        return self

    def packets(self) -> Iterator[bytes]:
        """Yield the call and the reply, as a pcap file has them."""
        time, xid = START + STEP * self.number, self.number & 0xFFFFFFFF
        ends = _address(10, self.client), _address(11, self.server)
        ports = 700 + self.client % 300, 2049
        if self.has_call:
            yield _packet(time, ends, ports, self._call(xid))
        if self.has_reply:
            yield _packet(time + STEP // 2, ends[::-1], ports[::-1], self._reply(xid))

    def _call(self, xid: int) -> bytes:
        machine = opaque(b"m" * 255)
        user = pack(">I", 0) + machine + pack(">III", self.number, self.number, 16)
        credentials = pack(">I", 1) + opaque(user + pack(">16I", *range(16)))
        head = pack(">IIIIII", xid, 0, 2, self.program, 4, 1) + credentials + bytes(8)
        operations = b"".join(pack(">I", number) + call for number, call, _ in self.parts)
        return head + opaque(b"") + pack(">II", 0, len(self.parts)) + operations

    def _reply(self, xid: int) -> bytes:
        head = pack(">IIIIII", xid, 1, 0, 0, 0, 0)
        results = b"".join(pack(">II", number, 0) + reply for number, _, reply in self.parts)
        return head + pack(">I", 0) + opaque(b"") + pack(">I", len(self.parts)) + results


def opaque(value: bytes) -> bytes:
    """Return bytes of variable length as XDR has them (RFC 4506 section 4.10)."""
    return pack(">I", len(value)) + value + bytes(-len(value) % 4)


def handle(kind: str, number: int) -> bytes:
    """Return a handle of 128 bytes."""
    return opaque(f"{kind}{number}".encode().ljust(128, b"h"))


def name(kind: str, number: int) -> bytes:
    """Return a name of 255 bytes."""
    return opaque(f"{kind}{number}".encode().ljust(255, b"n"))


def put(kind: str, number: int) -> Part:
    """Return a PUTFH."""
    return PUTFH, handle(kind, number), b""


def get(kind: str, number: int) -> Part:
    """Return a GETFH."""
    return GETFH, b"", handle(kind, number)


def create(number: int) -> list[Part]:
    """Return the operations that create a file in a directory of its own."""
    call = pack(">IIIQ", 0, 3, 0, 1) + opaque(b"o" * 1000) + pack(">II", 1, 0)
    call += pack(">III", 2, 0, 2) + opaque(pack(">I", 0o600)) + pack(">I", 0)
    result = bytes(16) + pack(">IQQ", 1, 1, 2) + pack(">III", 0, 0, 0)
    opened = OPEN, call + name("f", number), result
    return [put("d", number), opened, get("f", number)]


def births(count: int) -> Traffic:
    """Yield creates of files, each in a directory of its own."""
    return (Exchange(number, create(number)) for number in range(count))


def clients(count: int) -> Traffic:
    """Yield creates, each by a client of its own."""
    return (Exchange(number, create(number), client=number) for number in range(count))


def servers(count: int) -> Traffic:
    """Yield creates, each by a client of its own to a server of its own."""
    return (Exchange(number, create(number), number, number) for number in range(count))


def calls(count: int) -> Traffic:
    """Yield creates without replies."""
    return (Exchange(number, create(number)).only("call") for number in range(count))


def replies(count: int) -> Traffic:
    """Yield replies without calls."""
    return (Exchange(number, create(number)).only("reply") for number in range(count))


def compounds(count: int) -> Traffic:
    """Yield compounds of many operations, without replies."""
    for number in range(count // 64):
        parts = [part for each in range(32) for part in _lookup(number, each)]
        yield Exchange(number, parts).only("call")


def lookups(count: int) -> Traffic:
    """Yield compounds that look up many names, each in a directory of its own."""
    for number in range(count // 64):
        parts = [part for each in range(64) for part in _lookup(number, each)]
        yield Exchange(number, parts)


def removes(count: int) -> Traffic:
    """Yield creates, each followed by the removal of the file."""
    for number in range(count // 2):
        yield Exchange(2 * number, create(number))
        changed = pack(">IQQ", 1, 2, 3)
        remove = [put("d", number), (REMOVE, name("f", number), changed)]
        yield Exchange(2 * number + 1, remove)


def renames(count: int) -> Traffic:
    """Yield renames of unknown files from one directory to another."""
    changed = pack(">IQQ", 1, 2, 3)
    for number in range(count):
        rename = RENAME, name("a", number) + name("b", number), 2 * changed
        parts = [put("d", number), (SAVEFH, b"", b""), put("e", number), rename]
        yield Exchange(number, parts)


def links(count: int) -> Traffic:
    """Yield hard links to one file."""
    for number in range(count):
        link = LINK, name("l", number), pack(">IQQ", 1, 2, 3)
        yield Exchange(number, [put("f", 0), (SAVEFH, b"", b""), put("d", number), link])


def symlinks(count: int) -> Traffic:
    """Yield symbolic links with targets of 4 KB."""
    for number in range(count):
        target = opaque(b"t" * 4096)
        call = pack(">I", SYMLINK) + target + name("s", number) + pack(">I", 0) + opaque(b"")
        made = CREATE, call, pack(">IQQI", 1, 1, 2, 0)
        yield Exchange(number, [put("d", number), made, get("s", number)])


def directories(count: int) -> Traffic:
    """Yield directories, each in the one before: paths of many long names."""
    for number in range(count):
        call = pack(">I", 2) + name("d", number) + pack(">I", 0) + opaque(b"")
        made = CREATE, call, pack(">IQQI", 1, 1, 2, 0)
        yield Exchange(number, [put("d", number), made, get("d", number + 1)])


def listings(count: int) -> Traffic:
    """Yield listings of 100 entries, each of a directory of its own."""
    for number in range(count // 100):
        entries = b""
        for each in range(100 * number, 100 * number + 100):
            attributes = pack(">II", 1, 1 << 19) + opaque(handle("e", each))
            entries += pack(">IQ", 1, each) + name("e", each) + attributes
        call = pack(">QQII", 0, 0, 8192, 1 << 20) + pack(">I", 0)
        listed = READDIR, call, bytes(8) + entries + pack(">II", 0, 1)
        yield Exchange(number, [put("d", number), listed])


def requests(count: int) -> Traffic:
    """Yield compounds of as many operations as are believed, each on a handle of 128 bytes."""
    getattr = GETATTR, pack(">I", 0), pack(">I", 0) + opaque(b"")
    for number in range(count // 1000):
        yield Exchange(number, [put("f", number), *[getattr] * 1000])


def programs(count: int) -> Traffic:
    """Yield calls, each of an RPC program of its own."""
    for number in range(count):
        yield Exchange(number, [], program=400_000 + number).only("call")


def _lookup(number: int, each: int) -> list[Part]:
    place = 64 * number + each
    return [put("d", place), (LOOKUP, name("f", place), b""), get("f", place)]


KINDS: dict[str, Callable[[int], Traffic]] = {
    kind.__name__: kind
    for kind in (
        births, clients, servers, calls, replies, compounds, lookups, removes, renames, links,
        symlinks, directories, listings, requests, programs,
    )
}  # fmt: skip


def write(traffic: Traffic, path: Path) -> None:
    """Write a capture of raw IP packets."""
    with path.open("wb") as file:
        file.write(pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 101))
        for exchange in traffic:
            file.writelines(exchange.packets())


def _address(net: int, host: int) -> bytes:
    return pack(">I", net << 24 | host & 0xFFFFFF)


def _packet(time: int, ends: tuple[bytes, ...], ports: tuple[int, ...], message: bytes) -> bytes:
    datagram = pack(">HHHH", *ports, 8 + len(message), 0) + message
    head = pack(">BBHHHBBH", 0x45, 0, 20 + len(datagram), 0, 0x4000, 64, 17, 0)
    packet = head + b"".join(ends) + datagram
    seconds, rest = divmod(time, 10**6)
    return pack("<IIII", seconds, rest, len(packet), len(packet)) + packet


def follow(capture: Path, folder: Path, options: list[str]) -> dict[str, Any]:
    """Pour a capture into a follower with a live history; return its status at the end."""
    history = ["--history", str(folder / "history")]
    command = [sys.executable, "-m", "birthmark", "follow", "-", str(folder / "out")]
    with (
        capture.open("rb") as file,
        subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as poured,
    ):
        outcome = subprocess.run(
            [*command, *history, "--json", *options],
            stdin=poured.stdout,
            stdout=subprocess.PIPE,
            check=True,
        )
    status: dict[str, Any] = json.loads(outcome.stdout)
    return status


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--count", type=int, default=400_000)
    parser.add_argument("--json", type=Path)
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments, options = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    rows = {}
    print(f"{'kind':12}{'capture':>9}{'operations':>12}{'peak MB':>9}{'s':>6}")
    for kind in arguments.kinds or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            capture = Path(folder, "capture")
            write(KINDS[kind](arguments.count), capture)
            size = capture.stat().st_size
            rows[kind] = follow(capture, Path(folder), options)
        outcome = rows[kind]
        print(
            f"{kind:12}{size / 1e6:9.0f}{outcome['operations']:12,}"
            f"{outcome['peak_memory'] / 1e6:9.0f}{outcome['seconds']:6.0f}",
            flush=True,
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
