"""Speed and memory of ingest, beside ``gzip -dc | wc -l`` and ``tcpdump`` on the same files.

    python -m benchmarks.ingest FILE... [--runs 3] [--json OUT]

Text and captures of any size; ``benchmarks.repeat`` makes large ones. Plain text is also measured
gzipped, and gzipped text also plain, in the same run. ``decode`` writes the operations table to
Parquet; ``ingest`` is the command, which follows the lives of files and names besides.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

DECODE = """
import sys
from pathlib import Path
from birthmark.data.datasets import DatasetWriter
from birthmark.data.traces.reader import open_trace
with DatasetWriter(Path(sys.argv[2])) as dataset:
    for batch in open_trace(sys.argv[1]):
        dataset.write("operations", batch)
"""


def timed(command: list[str] | str, runs_in_shell: bool = False) -> tuple[float, float]:
    """Run a command; return its wall seconds and peak resident memory in MB."""
    began = time.monotonic()
    process = subprocess.Popen(command, shell=runs_in_shell, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    if process.returncode:
        raise SystemExit(f"{command}: exit code {process.returncode}")
    return seconds, usage.ru_maxrss / 1024


def commands(path: Path, out: Path, is_text: bool) -> dict[str, list[str] | str]:
    """Return what is measured on a file, by name."""
    found: dict[str, list[str] | str] = {
        "birthmark decode": [sys.executable, "-c", DECODE, str(path), str(out)],
        "birthmark ingest": [
            sys.executable,
            "-m",
            "birthmark",
            "ingest",
            str(path),
            "--out",
            str(out),
        ],
    }
    if is_text:
        packed = path.suffix == ".gz"
        found["gzip -dc | wc -l" if packed else "wc -l"] = (
            f"gzip -dc '{path}' | wc -l" if packed else f"wc -l '{path}'"
        )
    elif shutil.which("tcpdump"):
        found["tcpdump -w /dev/null"] = ["tcpdump", "-r", str(path), "-w", "/dev/null"]
    return found


def measure(
    path: Path, scratch: Path, runs: int, is_text: bool, records: int
) -> list[dict[str, Any]]:
    """Measure everything on one file, runs interleaved; return a row for each program."""
    out = scratch / "dataset"
    samples: dict[str, list[tuple[float, float]]] = {}
    for _ in range(runs):
        for name, command in commands(path, out, is_text).items():
            samples.setdefault(name, []).append(timed(command, isinstance(command, str)))
            shutil.rmtree(out, ignore_errors=True)
    size = plain_size(path)
    rows = []
    for name, taken in samples.items():
        seconds = median(each for each, _ in taken)
        rows.append(
            {
                "file": path.name,
                "program": name,
                "seconds": round(seconds, 3),
                "records_per_second": round(records / seconds),
                "mb_per_second": round(size / seconds / 1e6, 1),
                "peak_mb": round(max(memory for _, memory in taken)),
            }
        )
    return rows


def plain_size(path: Path) -> int:
    """Return a file's size, decompressed."""
    if path.suffix != ".gz":
        return path.stat().st_size
    with gzip.open(path) as file:
        return file.seek(0, os.SEEK_END)


def count(path: Path, scratch: Path) -> tuple[bool, int]:
    """Return whether a trace is text, and its records: lines, or RPC messages."""
    out = scratch / "counting"
    command = [sys.executable, "-m", "birthmark", "ingest", str(path), "--out", str(out), "--json"]
    summary = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    shutil.rmtree(out)
    return summary["traces"][0]["format"] == "nfsdump", summary["records_in"]


def both_forms(path: Path, scratch: Path) -> list[Path]:
    """Return a text file plain and gzipped, making what is missing."""
    if path.suffix == ".gz":
        other = scratch / path.stem
        with gzip.open(path) as source, other.open("wb") as target:
            shutil.copyfileobj(source, target)
        return [other, path]
    other = scratch / f"{path.name}.gz"
    with path.open("rb") as source, other.open("wb") as target:
        subprocess.run(["gzip", "-c"], stdin=source, stdout=target, check=True)
    return [path, other]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for path in arguments.files:
            is_text, records = count(path, scratch)
            for form in both_forms(path, scratch) if is_text else [path]:
                rows += measure(form, scratch, arguments.runs, is_text, records)
    print(f"{'file':24}{'program':24}{'s':>8}{'records/s':>13}{'MB/s':>9}{'peak MB':>9}")
    for row in rows:
        print(
            f"{row['file']:24}{row['program']:24}{row['seconds']:8.2f}"
            f"{row['records_per_second']:13,}{row['mb_per_second']:9.1f}{row['peak_mb']:9}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
