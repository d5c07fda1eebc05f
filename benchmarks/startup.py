"""Cost of starting: the processor time of commands that have next to nothing to do.

    python -m benchmarks.startup --registry REGISTRY [--rounds 7] [--json OUT]

Each command runs in a process of its own, in turn with ``python -c pass`` and with ``python -c
"import sklearn, scipy.stats, pandas"``; of its processor times (user and system) the least counts,
and is given as a multiple of the one and as a share of the other.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from rich.console import Console
from rich.table import Table

CALL = b"1.0 31.03f7 30.0801 U C3 1 1 getattr fh 01 con = XXX len = XXX\n"
NOTHING, LEARNING = "python -c pass", "what learns"


def commands(registry: str, scratch: Path) -> dict[str, list[str]]:
    """Return the command lines, by what they are called."""
    trace = scratch / "trace.txt"
    trace.write_bytes(CALL)
    birthmark = [sys.executable, "-m", "birthmark"]
    explain = ["predict", "--explain", "inbox.lock", "--registry", registry]
    return {
        NOTHING: [sys.executable, "-c", "pass"],
        LEARNING: [sys.executable, "-c", "import sklearn, scipy.stats, pandas"],
        "--help": [*birthmark, "--help"],
        "predict --help": [*birthmark, "predict", "--help"],
        "dump": [*birthmark, "dump", str(trace)],
        "ingest": [*birthmark, "ingest", str(trace), "--out", str(scratch / "dataset")],
        "scan": [*birthmark, "scan", str(trace), "--out", str(scratch / "counts.csv")],
        "predict --explain": [*birthmark, *explain],
    }


def seconds(command: list[str]) -> float:
    """Return the processor time that a command takes."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(found: dict[str, float]) -> None:
    """Print a row for each command."""
    table = Table("command", "CPU ms", f"of {NOTHING}", f"of {LEARNING}")
    for name, took in found.items():
        nothing, learning = took / found[NOTHING], took / found[LEARNING]
        table.add_row(name, f"{1000 * took:.0f}", f"{nothing:.1f}×", f"{learning:.0%}")
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--registry", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        asked = commands(arguments.registry, Path(scratch))
        rounds = [
            {name: seconds(command) for name, command in asked.items()}
            for _ in range(arguments.rounds)
        ]
    found = {name: min(each[name] for each in rounds) for name in asked}
    show(found)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
