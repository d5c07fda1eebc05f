"""Share of a trace's operations that end the same in a replay, and its speed against ``cp -a``.

    python -m benchmarks.replay TRACE... [--scratch DIR] [--json OUT]

Each trace is built and run whole. ``cp -a`` then copies the tree that is left, file by file, on the
same file system: its rate is in files and directories. ``pace`` is the time that the trace took, in
times that of the run. Run it as root to have permissions compared, too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from birthmark.layout_hint.rewrite import build
from birthmark.research.replay import run

COLUMNS = {
    "trace": "24",
    "calls": "11,",
    "left_out": "9,",
    "inserted": "9,",
    "share": "9.3%",
    "build_per_second": "11,",
    "run_per_second": "11,",
    "pace": "8.1f",
    "cp_per_second": "11,",
    "ratio": "7.2f",
}


def copied(tree: Path, target: Path) -> tuple[int, float]:
    """Copy a tree by ``cp -a``; return how many files and directories it has, and the seconds."""
    count = sum(1 for _ in tree.rglob("*"))
    began = time.monotonic()
    subprocess.run(["cp", "-a", str(tree), str(target)], check=True)
    return count, time.monotonic() - began


def measure(trace: Path, scratch: Path) -> dict[str, Any]:
    """Build and run a replay of a trace; return what was measured."""
    built = build([trace], scratch / "build")
    ran = run(scratch / "build", scratch / "root")
    count, seconds = copied(scratch / "root", scratch / "copy")
    performed = ran.operations + ran.inserted
    return {
        "trace": trace.name,
        "calls": built.calls,
        "left_out": sum(built.left_out.values()),
        "inserted": ran.inserted,
        "share": ran.share,
        "build_per_second": round(built.calls / built.seconds),
        "run_per_second": round(performed / ran.seconds),
        "pace": ran.trace_seconds / ran.seconds,
        "cp_per_second": round(count / seconds),
        "ratio": (performed / ran.seconds) / (count / seconds),
        "differences": ran.to_json()["differences"],
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--scratch", type=Path, help="where to work; default: the system's")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    for trace in arguments.traces:
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
            rows.append(measure(trace, Path(folder)))
    widths = {name: int(form.rstrip("%f,").split(".")[0]) for name, form in COLUMNS.items()}
    heads = {"build_per_second": "build/s", "run_per_second": "run/s", "cp_per_second": "cp -a/s"}
    print("".join(f"{heads.get(name, name):>{width}}" for name, width in widths.items()))
    for row in rows:
        cells = {name: format(row[name], form) for name, form in COLUMNS.items()}
        print("".join(f"{cells[name]:>{width}}" for name, width in widths.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
