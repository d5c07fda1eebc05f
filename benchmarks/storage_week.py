"""A week of 1992, on a drive like its own: as its issuers waited, and as if they had not.

    python -m benchmarks.storage_week ajw.1week.srt.xz [--json]

The trace is HP's, of 30 May 1992, in DiskSim's validation suite. The drive is
``benchmarks/hp_c2200a.toml``, and the same with everything 1.5, 2 and 3 times as slow. A slower
drive makes open arrivals queue without end; issuers that wait do not let it come to that.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from birthmark.layout_hint.disks import read_drive
from birthmark.research.block_replay import replay
from birthmark.research.settings import IssueModel, ReplayOptions

DRIVE = Path(__file__).with_name("hp_c2200a.toml")
SLOWER = (1.0, 1.5, 2.0, 3.0)
ISSUE: tuple[IssueModel, ...] = ("open", "dependent")
SECTOR = 256
"""Bytes."""


def slowed(slower: float) -> str:
    """Return the drive in TOML, with all of its times so many times as long."""
    drive = read_drive(DRIVE)
    changes = {
        "rpm = ": drive.rpm / slower,
        "head_switch_ms = ": drive.head_switch_ms * slower,
        "bus_ms_per_sector = ": drive.bus_ms_per_sector * slower,
        **{f"{name} = ": time * slower for name, time in drive.overheads_ms.model_dump().items()},
        "seek = [": ", ".join(f"[{far}, {time * slower}]" for far, time in drive.seek),
    }
    lines, points = [], False
    for line in DRIVE.read_text().splitlines():
        start = next((start for start in changes if line.startswith(start)), None)
        if start is not None:
            lines.append(f"{start}{changes[start]}")
            points = start == "seek = ["
        elif not points or line == "]":
            lines.append(line)
            points = False
    return "\n".join(lines)


def measure(trace: Path) -> Iterator[dict[str, Any]]:
    """Yield how each drive serves the trace under each issue model."""
    with tempfile.TemporaryDirectory() as folder:
        for slower in SLOWER:
            drive = Path(folder) / f"{slower}.toml"
            drive.write_text(slowed(slower))
            for issue in ISSUE:
                asked = ReplayOptions(drive=str(drive), issue=issue, sector_bytes=SECTOR)
                yield {"slower": slower, "issue": issue} | replay(trace, asked)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = list(measure(arguments.trace))
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    traced = rows[0]["traced"]
    print(f"assumed of the drive: {rows[0]['assumed']}")
    print("slower  issue      mean ms   p50 ms   p95 ms   p99 ms  queue at most")
    print(_row("", "trace", traced))
    for row in rows:
        print(f"{_row(row['slower'], row['issue'], row)} {row['queue_most']:14}")


def _row(slower: object, issue: str, own: dict[str, Any]) -> str:
    times = " ".join(f"{own[f'{name}_ms']:8.1f}" for name in ("mean", "p50", "p95", "p99"))
    return f"{slower!s:6}  {issue:9}{times}"


if __name__ == "__main__":
    main()
