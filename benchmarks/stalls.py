"""Time for which one request delays others, whatever it holds.

    python -m benchmarks.stalls [--registry REGISTRY] [--rounds 5] [--json OUT]

A service of one worker is asked about one file, over and over on one connection, while another
sends one large or wrong request. The result is the longest latency of the first: the median and the
worst of all rounds. Service and clients have a processor each. Without a registry a model is
trained on the bundled samples.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.serving import BIN, CPUS, FILE, Server, names, request, started, trained

PORT = "8411"
SECONDS = 0.5
"""Seconds of measuring alone, and least seconds of measuring with the other request."""

HOOKS = (256, 128)
"""Number of hooks that report before metrics are read, and counters of each."""


def unknown(members: int) -> bytes:
    """Return an object of so many members that are not known."""
    return b"{" + b",".join(b'"m%06d":1' % n for n in range(members)) + b"}"


def unusual(files: int) -> bytes:
    """Return files in a form that only the schema reads."""
    return json.dumps([{**FILE, "name": name, "mode": 420.0} for name in names(files)]).encode()


def cases() -> dict[str, bytes]:
    """Return the requests, by what is in them."""
    many, few = unknown(240_000), unknown(1200)
    large = b'{"name": "' + b"a" * 16_000_000 + b'"}'
    text = json.dumps({"version": "v" * 2_000_000}).encode()
    report = b'{"host": "h", "device": "d", "counters": %b}' % few
    paths = ("/v1/predictions", "/v1/explanations", "/v1/hints", "/v1/hints/report")
    found = {f"240,000 unknown members, {path}": request(path, many) for path in paths}
    found |= {f"16 KB of unknown members, {path}": request(path, few) for path in paths}
    found["16 KB of counters, /v1/hints/report"] = request("/v1/hints/report", report)
    found["240,000 unknown members, PUT /v1/model"] = _put(request("/v1/model", many))
    found["a version of 2 MB, PUT /v1/model"] = _put(request("/v1/model", text))
    for path in paths[:3]:
        found[f"a name of 16 MB, {path}"] = request(path, large)
    values = b"[" + b"0," * 240_000 + b"0" + b" " * 15_000_000 + b"]"
    found["240,000 numbers in 16 MB, /v1/predictions"] = request(paths[0], values)
    found["10,000 files in another form, /v1/predictions"] = request(paths[0], unusual(10_000))
    found["1,000 files in another form, /v1/explanations"] = request(paths[1], unusual(1000))
    found["metrics after reports"] = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n"
    return found


def _put(posted: bytes) -> bytes:
    return posted.replace(b"POST", b"PUT", 1)


def connected(server: Server) -> socket.socket:
    """Return a connection to a server."""
    connection = socket.create_connection(("127.0.0.1", int(server.place)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def answered(connection: socket.socket) -> tuple[int, int]:
    """Return the status of the answer that comes, and how many bytes it has."""
    received = bytearray()
    while b"\r\n\r\n" not in received:
        received += connection.recv(1 << 20)
    head, _, _ = bytes(received).partition(b"\r\n\r\n")
    (size,) = [
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ] or [0]
    left = len(head) + 4 + size - len(received)
    while left > 0:
        left -= len(connection.recv(1 << 20))
    return int(head.split()[1]), len(head) + 4 + size


class Probe:
    """Asks about one file, over and over; `longest` is what the slowest answer took, seconds."""

    def __init__(self, server: Server) -> None:
        self.longest = 0.0
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        body = request("/v1/predictions", json.dumps(FILE).encode())
        with closing(connected(self._server)) as connection:
            while not self._over.is_set():
                begun = time.perf_counter()
                connection.sendall(body)
                status, _ = answered(connection)
                self.longest = max(self.longest, time.perf_counter() - begun)
                if status != 200:
                    raise RuntimeError(f"expected 200, found {status}")

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask during the block."""
        self._thread.start()
        time.sleep(SECONDS / 5)
        self.longest = 0.0
        yield
        self._over.set()
        self._thread.join()


def stalled(server: Server, sent: bytes | None) -> dict[str, Any]:
    """Return the greatest latency while something was `sent`, and its answer."""
    probe = Probe(server)
    status = size = 0
    with closing(connected(server)) as connection, probe.asking():
        if sent is None:
            time.sleep(SECONDS)
        else:
            connection.sendall(sent)
            status, size = answered(connection)
        time.sleep(SECONDS / 5)
    return {"longest": probe.longest * 1000, "status": status, "bytes": size}


def report(server: Server) -> None:
    """Report of many hooks, as far as the service takes them."""
    hooks, counters = HOOKS
    counts = {f"device_counter_{n}": n for n in range(counters)}
    with closing(connected(server)) as connection:
        for hook in range(hooks):
            result = {"host": f"host{hook}", "device": "/dev/birthmark", "counters": counts}
            connection.sendall(request("/v1/hints/report", json.dumps(result).encode()))
            answered(connection)


def measured(args: argparse.Namespace, directory: Path) -> dict[str, Any]:
    """Return all figures."""
    registry = args.registry or trained(directory)
    command = [BIN / "birthmark", "serve", "--registry", registry, "--port", PORT]
    plan: dict[str, bytes | None] = {"nothing else": None, **cases()}
    if args.only:
        plan = {what: sent for what, sent in plan.items() if args.only in what}
    figures = []
    with started("birthmark", command, PORT) as server:
        os.sched_setaffinity(0, {CPUS[-1]})
        for what, sent in plan.items():
            if what.startswith("metrics"):
                report(server)
            rounds = [stalled(server, sent) for _ in range(args.rounds)]
            longest = [each["longest"] for each in rounds]
            figures.append(
                {"what": what, **rounds[-1], "longest": statistics.median(longest)}
                | {"worst": max(longest)}
            )
    return {"load": os.getloadavg(), "figures": figures}


def table(result: dict[str, Any]) -> Table:
    """Return the figures as a table."""
    found = Table("beside it", "longest", "worst, ms", "status", "bytes")
    for each in result["figures"]:
        times = (f"{each[key]:.1f}" for key in ("longest", "worst"))
        found.add_row(each["what"], *times, str(each["status"]), f"{each['bytes']:,}")
    return found


def main() -> None:
    """Measure, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--registry", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="measure those alone whose description holds this")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        result = measured(args, Path(directory))
    Console().print(table(result))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
