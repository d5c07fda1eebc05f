"""Processor time and memory of an ingest of forged packets: a few calls to each of many servers.

python -m benchmarks.forged [SERVERS...] [--calls 5] [--runs 3] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

START = 1_003_680_000


def lines(servers: int, calls: int) -> Iterator[str]:
    """Yield as many rounds of calls and replies as there are `calls`, each of all servers."""
    for number in range(servers * calls):
        time, server = START + number / 1000, f"{0x1000 + number % servers:x}.0801"
        end = "con = 1 len = 1\n"
        yield f"{time:.6f} 31.03ff {server} U C3 {number:x} 1 getattr fh 01 {end}"
        yield (
            f"{time + 0.0005:.6f} {server} 31.03ff U R3 {number:x} 1 getattr OK ftype 1 mode 1a4"
            f" nlink 1 uid 1 gid 1 size 10 fileid 1 mtime {START}.000000 status=0 pl = 1 {end}"
        )


def cost(command: list[str]) -> tuple[float, float]:
    """Run a command; return its processor seconds and peak resident memory in MB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command}: exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(servers: int, calls: int, runs: int, scratch: Path) -> dict[str, Any]:
    """Return the cost of ingesting one trace."""
    trace, out = scratch / f"{servers}.txt", scratch / "dataset"
    with trace.open("w") as file:
        file.writelines(lines(servers, calls))
    command = [sys.executable, "-m", "birthmark", "ingest", str(trace), "--out", str(out)]
    spent, files = [], 0
    for _ in range(runs):
        spent.append(cost(command))
        files = len(list(out.rglob("*.parquet")))
        shutil.rmtree(out)
    return {
        "servers": servers,
        "mb": round(trace.stat().st_size / 1e6, 1),
        "seconds": round(median(seconds for seconds, _ in spent), 2),
        "peak_mb": round(max(memory for _, memory in spent)),
        "files": files,
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", type=int, default=[1, 2000, 20_000])
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            measure(servers, arguments.calls, arguments.runs, Path(folder))
            for servers in arguments.servers
        ]
    print(f"{'servers':>8}{'MB':>8}{'s':>8}{'peak MB':>9}{'files':>7}")
    for row in rows:
        print(
            f"{row['servers']:8,}{row['mb']:8.1f}{row['seconds']:8.2f}{row['peak_mb']:9}"
            f"{row['files']:7,}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
