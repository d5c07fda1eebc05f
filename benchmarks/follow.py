"""Speed of ``birthmark follow`` against decoding alone, and its lag behind a busy server.

    python -m benchmarks.follow FILE... [--runs 3] [--rate 50000] [--json OUT]

Each file, a text or a capture, is decoded (``benchmarks.decode``, without its start), and poured
into a follower as fast as it takes it, in turns; the fastest runs count. The ratio is the time of
decoding to that of following, from the command's start to its last dataset.

Each capture (of pcap, little-endian) is then played into a follower such that its operations pass
at ``--rate`` a second. A packet is stamped with the time at which it is due: what waits for the
follower in the pipe counts as lag.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ingest import DECODE, Run, timed
from benchmarks.packets import Packets

FOLLOW = [sys.executable, "-m", "birthmark", "follow", "-"]
TICK = 0.01
"""Packets are sent every so many seconds."""


def followed(path: Path, out: Path) -> Run:
    """Pour a file into a follower."""
    return timed(f"cat '{path}' | {' '.join(FOLLOW)} '{out}'", runs_in_shell=True)


def speed(path: Path, runs: int) -> dict[str, Any]:
    """Return the times of decoding and following, in turns."""
    decoded, poured = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            decoded.append(timed([*DECODE, str(path)], tells=True))
            poured.append(followed(path, Path(folder, "out")))
    decode, follow = (Run(*map(min, zip(*spent, strict=True))) for spent in (decoded, poured))
    return {
        "file": path.name,
        "decode_seconds": round(decode.seconds, 3),
        "follow_seconds": round(follow.seconds, 3),
        "ratio": round(decode.seconds / follow.seconds, 2),
        "cpu_ratio": round(decode.cpu_seconds / follow.cpu_seconds, 2),
    }


def lag(path: Path, rate: float) -> dict[str, Any]:
    """Return a follower's lag behind a capture that is played at a rate of operations."""
    packets = Packets(path)
    with tempfile.TemporaryDirectory() as folder:
        operations = _operations(path, Path(folder, "counted"))
        due = packets.seconds * (operations / packets.seconds[-1] / rate)
        command = [*FOLLOW, str(Path(folder, "out")), "--json"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as follower:
            assert follower.stdin
            assert follower.stdout
            _play(packets, due, follower.stdin)
            result = json.loads(follower.stdout.read())
    wanted = ("operations", "lag_p50", "lag_p99", "peak_memory")
    return {"file": path.name, "rate": rate, **{name: result[name] for name in wanted}}


def _operations(path: Path, out: Path) -> int:
    command = f"cat '{path}' | {' '.join(FOLLOW)} '{out}' --json"
    result = subprocess.run(command, shell=True, check=True, capture_output=True).stdout
    return int(json.loads(result)["operations"])


def _play(packets: Packets, due: Any, to: Any) -> None:
    """Write packets when they are due."""
    to.write(packets.header)
    to.flush()
    time.sleep(2)  # the interpreter's start is no lag
    began, sent = time.time(), 0
    while sent < len(due):
        ready = int(np.searchsorted(due, time.time() - began, side="right"))
        if ready > sent:
            to.write(packets.stamped(sent, ready, began + due[sent:ready]))
            to.flush()
            sent = ready
        time.sleep(TICK)
    to.close()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=50_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = [speed(path, given.runs) for path in given.files]
    rows += [lag(path, given.rate) for path in given.files if path.suffix == ".pcap"]
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
