"""Cost of a night: processor time, memory and disk, by operation.

    python -m benchmarks.nights TRACE... [--kinds KIND...] [--json OUT]

Each trace is a night's, in the order given: the nightly command with its defaults takes it in,
tests the published model on it, and trains and compares a successor, all in one process
(``engine.workers = 1``), whose greatest resident memory is reported. Disk is what the night wrote
according to its state: the dataset and the version.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from birthmark.training.nightly.state import read
from birthmark.training.registry.versions import Registry

CONFIG = """\
[traces]
files = ["traces/*"]
settle_seconds = 0
[datasets]
directory = "datasets"
[registry]
directory = "registry"
[engine]
workers = 1
[training]
{kinds}
"""
MILLION, HOUR, MB = 1e6, 3600.0, float(1 << 20)


@dataclass(frozen=True)
class Cost:
    """Cost of one night: seconds, bytes, and the number of ingested operations.

    `dataset` and `version` are what it wrote of each.
    """

    trace: str
    operations: int
    processor: float
    clock: float
    memory: int
    dataset: int
    version: int


def night(home: Path, trace: Path) -> Cost:
    """Run a night to which a trace is new."""
    shutil.copy(trace, home / "traces")
    command = [sys.executable, "-m", "birthmark", "nightly", "--config"]
    begun = time.perf_counter()
    process = subprocess.Popen([*command, str(home / "birthmark.toml")], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{trace}: the night failed")
    clock = time.perf_counter() - begun
    registry = Registry(home / "registry")
    result = read(registry)
    assert result is not None
    parts = registry.manifest(registry.versions()[-1])["parts"].values()
    version = sum(part["size"] for part in parts)
    return Cost(
        trace.name,
        result.did["operations"],
        used.ru_utime + used.ru_stime,
        clock,
        used.ru_maxrss * 1024,
        result.written - version,
        version,
    )


def show(costs: list[Cost]) -> None:
    """Print a row for each night."""
    table = Table(
        "trace",
        "operations",
        "CPU s",
        "CPU h a million",
        "clock s",
        "memory MB",
        "dataset MB",
        "MB a million",
        "version MB",
    )
    for each in costs:
        millions = each.operations / MILLION
        table.add_row(
            each.trace,
            f"{each.operations:,}",
            f"{each.processor:.0f}",
            f"{each.processor / HOUR / millions:.2f}",
            f"{each.clock:.0f}",
            f"{each.memory / MB:.0f}",
            f"{each.dataset / MB:.1f}",
            f"{each.dataset / MB / millions:.0f}",
            f"{each.version / MB:.1f}",
        )
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--kinds", nargs="+")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    kinds = arguments.kinds
    settings = f"kinds = {json.dumps(kinds)}" if kinds else ""
    if kinds and len(kinds) == 1:
        settings += f'\nserve = "{kinds[0]}"'
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        (home / "traces").mkdir()
        (home / "birthmark.toml").write_text(CONFIG.format(kinds=settings))
        costs = [night(home, trace) for trace in arguments.traces]
    show(costs)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(each) for each in costs], indent=1) + "\n")


if __name__ == "__main__":
    main()
