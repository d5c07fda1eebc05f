"""Speed of ``birthmark dump``, beside programs that read or print the same traces.

    python -m benchmarks.dump CAPTURE TEXT [--runs 3] [--json OUT]

From a capture beside ``tcpdump -w /dev/null`` (which decodes nothing) and ``tshark`` (which prints
a line for each packet); from Parquet, into which the text is ingested first, beside ``wc -l`` of
the lines. The ratio is each program's time to dump's, all in one run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.ingest import Run, timed

DUMP = [sys.executable, "-m", "birthmark", "dump"]


def programs(capture: Path, text: Path, dataset: Path) -> dict[str, tuple[str, list[str]]]:
    """Return the measurements by name: the input, and the command."""
    found = {
        "birthmark dump (capture)": ("capture", [*DUMP, str(capture)]),
        "birthmark dump (Parquet)": ("text", [*DUMP, "--from", "operations", str(dataset)]),
        "wc -l": ("text", ["wc", "-l", str(text)]),
    }
    if shutil.which("tcpdump"):
        found["tcpdump -w /dev/null"] = (
            "capture",
            ["tcpdump", "-r", str(capture), "-w", "/dev/null"],
        )
    if shutil.which("tshark"):
        found["tshark"] = ("capture", ["tshark", "-n", "-r", str(capture), "-Y", "nfs"])
    return found


def lines(command: list[str]) -> int:
    """Return the number of lines that a command prints."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        return sum(1 for _ in process.stdout)


def measure(capture: Path, text: Path, dataset: Path, runs: int) -> list[dict[str, Any]]:
    """Measure every program, runs interleaved; return a row for each."""
    ingest = [sys.executable, "-m", "birthmark", "ingest", str(text), "--out", str(dataset)]
    subprocess.run(ingest, check=True, stdout=subprocess.DEVNULL)
    commands = programs(capture, text, dataset)
    counts = {
        source: lines(commands[f"birthmark dump ({name})"][1])
        for source, name in (("capture", "capture"), ("text", "Parquet"))
    }
    samples: dict[str, list[Run]] = {}
    for _ in range(runs):
        for name, (_, command) in commands.items():
            samples.setdefault(name, []).append(timed(command))
    ours = {
        source: median(run.seconds for run in samples[f"birthmark dump ({name})"])
        for source, name in (("capture", "capture"), ("text", "Parquet"))
    }
    rows = []
    for name, (source, _) in commands.items():
        seconds = median(run.seconds for run in samples[name])
        rows.append(
            {
                "program": name,
                "lines": counts[source],
                "seconds": round(seconds, 3),
                "lines_per_second": round(counts[source] / seconds),
                "peak_mb": round(max(run.peak_mb for run in samples[name])),
                "times_dump": round(seconds / ours[source], 2),
            }
        )
    return rows


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(arguments.capture, arguments.text, Path(folder) / "data", arguments.runs)
    print(f"{'program':28}{'lines':>12}{'s':>8}{'lines/s':>13}{'peak MB':>9}{'ratio':>8}")
    for row in rows:
        print(
            f"{row['program']:28}{row['lines']:12,}{row['seconds']:8.2f}"
            f"{row['lines_per_second']:13,}{row['peak_mb']:9}{row['times_dump']:8.2f}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
