"""Speed and memory of ingest, beside ``gzip -dc | wc -l`` and ``tcpdump`` on the same files.

    python -m benchmarks.ingest FILE... [--runs 3] [--json OUT]

Text and captures of any size; ``benchmarks.repeat`` makes large ones. Plain text is also measured
gzipped, and gzipped text also plain, in the same run. ``decode`` gives the operations table, batch
by batch; with lives it is followed, and with Parquet written (``benchmarks.decode``, without its
start); ``ingest`` is the command, from its start, which does all of it. Of several runs, which take
turns, the fastest counts. The ratio is a program's time to that of the one that only reads the
file; the other is that of processor time, of all its threads and from its start.
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
from typing import Any, NamedTuple

DECODE = [sys.executable, "-m", "benchmarks.decode"]


class Run(NamedTuple):
    """Cost of one run of a program."""

    seconds: float
    cpu_seconds: float
    peak_mb: float


def timed(command: list[str] | str, runs_in_shell: bool = False, tells: bool = False) -> Run:
    """Run a command; it may tell by itself how many seconds it took, by the clock and of work."""
    began = time.monotonic()
    stdout = subprocess.PIPE if tells else subprocess.DEVNULL
    process = subprocess.Popen(command, shell=runs_in_shell, stdout=stdout)
    answer = process.stdout.read() if process.stdout else b""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds, cpu_seconds = time.monotonic() - began, usage.ru_utime + usage.ru_stime
    if process.returncode:
        raise SystemExit(f"{command}: exit code {process.returncode}")
    if tells:
        seconds, cpu_seconds = map(float, answer.split())
    return Run(seconds, cpu_seconds, usage.ru_maxrss / 1024)


def commands(path: Path, out: Path, is_text: bool) -> dict[str, list[str] | str]:
    """Return the measured programs on a file, by name; first one that only reads it."""
    found: dict[str, list[str] | str] = {}
    if is_text and path.suffix == ".gz":
        found["gzip -dc | wc -l"] = f"gzip -dc '{path}' | wc -l"
    elif is_text:
        found["wc -l"] = f"wc -l '{path}'"
    elif shutil.which("tcpdump"):
        found["tcpdump -w /dev/null"] = ["tcpdump", "-r", str(path), "-w", "/dev/null"]
    ingest = ["-m", "birthmark", "ingest", str(path), "--out", str(out)]
    return found | {
        "decode": [*DECODE, str(path)],
        "decode, lives": [*DECODE, str(path), "--lives"],
        "decode, Parquet": [*DECODE, str(path), "--out", str(out)],
        "ingest": [sys.executable, *ingest],
    }


def measure(
    path: Path, scratch: Path, runs: int, is_text: bool, records: int
) -> list[dict[str, Any]]:
    """Measure everything on one file, runs interleaved; return a row for each program."""
    out = scratch / "dataset"
    samples: dict[str, list[Run]] = {}
    for _ in range(runs):
        for name, command in commands(path, out, is_text).items():
            spent = timed(command, isinstance(command, str), name.startswith("decode"))
            samples.setdefault(name, []).append(spent)
            shutil.rmtree(out, ignore_errors=True)
    size = plain_size(path)
    least = {name: Run(*map(min, zip(*spent, strict=True))) for name, spent in samples.items()}
    reading = next(iter(least.values()))
    return [
        {
            "file": path.name,
            "program": name,
            "seconds": round(took.seconds, 3),
            "cpu_seconds": round(took.cpu_seconds, 3),
            "records_per_second": round(records / took.seconds),
            "mb_per_second": round(size / took.seconds / 1e6, 1),
            "peak_mb": round(max(each.peak_mb for each in samples[name])),
            "times_reading": round(took.seconds / reading.seconds, 2),
            "cpu_times_reading": round(took.cpu_seconds / max(reading.cpu_seconds, 1e-3), 2),
        }
        for name, took in least.items()
    ]


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
    print(
        f"{'file':24}{'program':24}{'s':>8}{'CPU s':>8}{'records/s':>13}{'MB/s':>9}{'peak MB':>9}"
        f"{'ratio':>8}{'CPU':>8}"
    )
    for row in rows:
        print(
            f"{row['file']:24}{row['program']:24}{row['seconds']:8.2f}{row['cpu_seconds']:8.2f}"
            f"{row['records_per_second']:13,}{row['mb_per_second']:9.1f}{row['peak_mb']:9}"
            f"{row['times_reading']:8.2f}{row['cpu_times_reading']:8.2f}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
