"""Outcome of requests when far more come than can be answered.

    python -m benchmarks.overload --registry REGISTRY [--crowds 1000 4000 10000] [--realtime]
                                  [--json OUT]

One worker, and clients, on all processors: a crowd (``crowd.c``) whose clients each send one
request, and a client that sends all the time on four connections (``load.c``), which is measured
alone and then beside crowds that come one after the other. Of a crowd that is connected before it
asks (``ask``) time begins where each begins to send, else (``open``) where it begins to connect.
With --realtime, which needs root, both ends go before all other work.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.serving import BIN, CPUS, FILE, HERE, request, started

SECONDS = 5.0
PORT = "8407"


def client(program: Path, *arguments: str | int | float, realtime: bool) -> list[str]:
    """Return the command of a client."""
    first = ["chrt", "-f", "1"] if realtime else []
    return [*first, str(program), *map(str, arguments)]


def crowd(command: list[str], body: bytes) -> dict[str, dict[str, float]]:
    """Return by status how many answers there were, and the milliseconds of shares of them."""
    done = subprocess.run(command, input=body, capture_output=True, check=True)
    result: dict[str, dict[str, float]] = json.loads(done.stdout)
    return result


def steady(command: list[str], body: bytes) -> subprocess.Popen[bytes]:
    """Begin to ask all the time."""
    asking = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert asking.stdin is not None
    asking.stdin.write(body)
    asking.stdin.close()
    asking.stdin = None
    return asking


def measured(args: argparse.Namespace, directory: Path) -> dict[str, Any]:
    """Return all figures."""
    programs = {name: directory / name for name in ("load", "crowd")}
    for name, program in programs.items():
        subprocess.run(["cc", "-O2", "-o", program, HERE / f"{name}.c"], check=True)
    body = request("/v1/predictions", json.dumps(FILE).encode())
    every = ["taskset", "-c", ",".join(map(str, CPUS))]  # ``started`` would have it on one
    serve = [*every, BIN / "birthmark", "serve", "--registry", args.registry, "--port", PORT]
    always = client(programs["load"], PORT, 4, SECONDS, realtime=args.realtime)

    def come(size: int, mode: str) -> dict[str, dict[str, float]]:
        command = client(programs["crowd"], PORT, size, mode, realtime=args.realtime)
        return crowd(command, body)

    with started("birthmark", serve, PORT) as server:
        if args.realtime:
            subprocess.run(["chrt", "-f", "-a", "-p", "1", str(server.process)], check=True)
        alone = json.loads(steady(always, body).communicate()[0])
        crowds = [
            {"size": size, "mode": mode, "answers": come(size, mode)}
            for size in args.crowds
            for mode in ("ask", "open")
        ]
        asking = steady(always, body)
        came = 0
        while asking.poll() is None:
            come(args.crowds[0], "ask")
            came += 1
        beside = json.loads(asking.communicate()[0])
    return {
        "load": os.getloadavg(),
        "crowds": crowds,
        "steady": {"alone": alone, f"beside {came} crowds of {args.crowds[0]}": beside},
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--registry", type=Path, required=True)
    parser.add_argument("--crowds", type=int, nargs="+", default=[1000, 4000, 10_000])
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        result = measured(args, Path(directory))
    console = Console()
    table = Table("crowd", "mode", "status", "answers", "p50 ms", "p90 ms", "p99 ms")
    for each in result["crowds"]:
        for status, figures in each["answers"].items():
            shares = (f"{figures[key]:,.1f}" for key in ("p50", "p90", "p99"))
            count = f"{figures['count']:,}"
            table.add_row(f"{each['size']:,}", each["mode"], status, count, *shares)
    console.print(table)
    table = Table("a client that asks all the time", "200", "other", "p50 ms", "p99 ms")
    for name, figures in result["steady"].items():
        shares = (f"{figures[key] / 1e3:,.2f}" for key in ("p50", "p99"))
        table.add_row(name, f"{figures['answers']:,}", f"{figures['failed']:,}", *shares)
    console.print(table)
    console.print(f"load of the machine: {result['load'][0]:.1f} on {len(CPUS)} processors")
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
