"""Cost of the layout hook for a create: in table mode, and waiting for a service in each state.

    python -m benchmarks.hook --train DAY --test DAY [--kind name] [--rounds 10] [--json OUT]

A day is a trace or an ingested dataset. A model is trained on the one; the creates of the other are
asked. In C (``hook.c`` beside this, call by call): the lookup in the hint image alone, the hook in
table mode, and in query mode, which is asynchronous, the look-up in its cache of decisions, known
and unknown. Through the replay's home, waiting for a service on a Unix socket, each create of a
kind of its own, so that none is known: `birthmark serve` up; a server in its place that is slow
(10 ms) or hung (it never answers); and none. Last the real creates with the service up; most are
of a kind that was looked up before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from benchmarks.hint_service import HintService
from benchmarks.lookup import CREATES, dataset, in_c, packed
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.layout_hint import INCLUDE
from birthmark.layout_hint.native import Hook
from birthmark.predictor import TrainedModel, births
from birthmark.predictor.allocation.verdicts import hint_image
from birthmark.predictor.models.compile import compile_models
from birthmark.training.registry.versions import Registry

HOOK = INCLUDE.parent / "hook"
WAITING = 2000
SLOW = 0.010
DEADLINES = (0.002, 0.050)
WARM = 60.0  # seconds that the first answer of a service may take


def compile_program(program: Path) -> None:
    """Compile ``hook.c`` with the hook."""
    sources = [Path(__file__).with_name("hook.c"), HOOK / "bm_hook.c"]
    folders = ["-I", str(INCLUDE), "-I", str(HOOK)]
    subprocess.run(["cc", "-O2", "-std=gnu11", *folders, *sources, "-o", program], check=True)


def in_table(args: argparse.Namespace, model: TrainedModel, creates: pa.Table, folder: Path) -> Any:
    """Return the times of calls in C, for the hint image and for one of every predicate."""
    asked, path, program = (folder / name for name in ("creates", "image", "hook"))
    known = creates.slice(0, CREATES)
    for column in ("client", "history"):  # which kernels do not know
        at = known.schema.get_field_index(column)
        known = known.set_column(at, column, pa.nulls(len(known), known.schema.field(at).type))
    asked.write_bytes(packed(known))
    compile_program(program)
    images = {
        "the hint image": hint_image(model, args.kind, "accurate"),
        "all predicates": compile_models(model.models[args.kind], "accurate"),
    }
    rows = []
    for what, content in images.items():
        path.write_bytes(content)
        row = {"image": what, "bytes": len(content), **in_c(program, path, asked, args.rounds)}
        rows.append(row | {"ratio": row["table_median"] / row["lookup_median"]})
    return rows


@contextmanager
def up(registry: Path, path: Path) -> Iterator[None]:
    """Run the service while the block does."""
    command = [sys.executable, "-m", "birthmark", "serve", "--registry", registry, "--uds", path]
    service = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not path.exists() and service.poll() is None:
            time.sleep(0.05)
        yield
    finally:
        service.terminate()
        service.wait()


class HeldServer(ThreadingUnixStreamServer):
    """Takes connections, and answers ``delay`` seconds late (None: never)."""

    daemon_threads = True

    def __init__(self, path: Path, delay: float | None) -> None:
        super().__init__(str(path), Held)
        self.delay, self.ending = delay, threading.Event()

    def handle_error(self, *_: object) -> None:
        """Drop a client that did not wait."""


class Held(BaseHTTPRequestHandler):
    """A right answer, after the server's delay."""

    protocol_version = "HTTP/1.1"
    server: HeldServer

    def do_POST(self) -> None:
        """Answer, unless the server ends before."""
        self.rfile.read(int(self.headers["content-length"]))
        if self.server.ending.wait(self.server.delay):
            return
        body = b"1"
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)


@contextmanager
def held(path: Path, delay: float | None) -> Iterator[None]:
    """Serve answers that late while the block runs."""
    with HeldServer(path, delay) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield
        server.ending.set()
        server.shutdown()
        thread.join()


def strangers(creates: pa.Table) -> pa.RecordBatch:
    """Return creates with distinct owners, so that none is of a known kind."""
    rows = creates.slice(0, WAITING)
    owners = pa.array(np.arange(len(rows)) + 1_000_000, pa.uint32())
    rows = rows.set_column(rows.schema.get_field_index("uid"), "uid", owners)
    return rows.combine_chunks().to_batches()[0]


def waited(path: Path, rows: pa.RecordBatch, deadline: float) -> dict[str, Any]:
    """Return the latencies of creates that wait for the service at ``path``, in microseconds."""
    hook = Hook(service=HintService(path), deadline=deadline)
    times = hook.ask(rows)[1].to_numpy() / 1000
    counters = json.loads(hook.counters)
    shares = {"median": 50.0, "p99": 99.0, "max": 100.0}
    figures = {name: float(np.percentile(times, share)) for name, share in shares.items()}
    return figures | {"mean": float(times.mean()), "n": len(times), "counters": counters}


def in_sync(model: TrainedModel, args: argparse.Namespace, creates: pa.Table, folder: Path) -> Any:
    """Return the cost of waiting, a row for each state of the service and deadline."""
    registry, rows = folder / "registry", []
    manifest = {"serve": args.kind, "point": "accurate", "trained_on": {}, "figures": []}
    Registry(registry).publish(model.save, manifest)
    real = creates.slice(0, CREATES).combine_chunks().to_batches()[0]
    states = {
        "up": (lambda path: up(registry, path), strangers(creates)),
        "slow": (lambda path: held(path, SLOW), strangers(creates)),
        "hung": (lambda path: held(path, None), strangers(creates)),
        "gone": (lambda path: ExitStack(), strangers(creates)),
        "up, real creates": (lambda path: up(registry, path), real),
    }
    for number, (state, (service, asked)) in enumerate(states.items()):
        path = folder / f"service{number}"
        with service(path):
            if state.startswith("up"):
                waited(path, asked.slice(0, 1), WARM)
            for deadline in DEADLINES:
                figures = waited(path, asked, deadline)
                rows.append({"state": state, "deadline_ms": 1000 * deadline, **figures})
    return rows


def show(table: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Print both tables."""
    calls = ("lookup", "table", "query_known", "query_unknown", "timer")
    about = Table("", "", *calls, "table / lookup", title="in C, ns for each create")
    for row in table:
        for which in ("median", "p99"):
            cells = [f"{row[f'{call}_{which}']:,.0f}" for call in calls]
            about.add_row(row["image"], which, *cells, f"{row['ratio']:.2f}")
    Console(width=120).print(about)
    heads = ("answered", "late", "gone", "bad", "unasked")
    times = ("median", "p99", "max", "mean")
    waits = Table("service", "deadline, ms", *times, *heads, title="waiting, µs for each create")
    for row in rows:
        counters = row["counters"]["service"]
        cells = [f"{row[name]:,.1f}" for name in times] + [f"{counters[name]:,}" for name in heads]
        waits.add_row(row["state"], f"{row['deadline_ms']:.0f}", *cells)
    Console(width=120).print(waits)


def main() -> None:
    """Measure, print, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--kind", default="name")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        train, test = (dataset(getattr(args, d), folder / d) for d in ("train", "test"))
        model = TrainedModel().train(read_files(train), read_names(train), kinds=[args.kind])
        creates = model.creates("file", births(read_files(test)))
        table = in_table(args, model, creates, folder)
        rows = in_sync(model, args, creates, folder)
    show(table, rows)
    if args.json:
        args.json.write_text(json.dumps({"table": table, "waiting": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
