"""Load of ``birthmark top`` on a terminal's core, and whether its numbers equal a scan's.

    python -m benchmarks.top CAPTURE [--rate 5000] [--json OUT]

The capture (pcap, little-endian) is played into ``birthmark top -`` so that its operations pass at
``--rate`` a second, stamped with the time at which they are due, on a pseudo-terminal of 24 lines
and 80 columns. Processor time is that of the whole program, all threads and the kernel's part
included, from ten seconds after its start, when all that starts has started and the window is full,
to the end of the play, by the time that this traffic takes at that rate. Each picture that was
drawn is counted; the longest time from one to the next is that from which it was seen here. At the
end all that was played is shown, by user and by client, and compared with what ``birthmark scan``
counts in the same packets.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.packets import Packets

TOP = [sys.executable, "-m", "birthmark", "top", "-", "--passwd", "/dev/null"]
SCAN = [sys.executable, "-m", "birthmark", "scan"]
TICK = 0.01
"""Packets are sent every so many seconds."""
STARTED = 10.0
"""After so many seconds processor time is measured."""
FRAME = b"\x1b[H"
"""The beginning of a picture."""
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


class Shown:
    """A program on a terminal of 24 lines and 80 columns."""

    def __init__(self, command: Sequence[str]) -> None:
        self._terminal, program = pty.openpty()
        fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=program,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),
        )
        os.close(program)
        self.drawn: list[float] = []
        self.last = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        result = b""
        while True:
            try:
                result += os.read(self._terminal, 1 << 16)
            except OSError:  # it has ended
                return
            *before, result = result.split(FRAME)
            self.drawn += [time.monotonic()] * len(before)
            self.last = result

    def press(self, key: str) -> str:
        """Press a key; return the picture that it makes."""
        os.write(self._terminal, key.encode())
        time.sleep(1.5)
        return ESCAPES.sub(b"", self.last).decode().replace("\r", "")

    def memory(self) -> int:
        """Return the most that it has held in memory, MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) // 1000

    def cpu(self) -> float:
        """Return its processor time, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def played(path: Path, rate: float) -> dict[str, Any]:
    """Play a capture; return what was measured."""
    packets = Packets(path)
    expected = counted(path)
    due = packets.seconds * (expected["all"] / packets.seconds[-1] / rate)
    shown = Shown(TOP)
    measured = _play(packets, due, shown)
    _wait(shown)
    for _ in range(3):
        if "since the start" in shown.press("t"):
            break
    found = {key: rows_of(shown.press(key[0])) for key in ("user", "client")}
    shown.press("q")
    gaps = np.diff(shown.drawn)
    return {
        "file": path.name,
        "operations_per_second": rate,
        "seconds": round(float(due[-1]), 1),
        "megabytes_per_second": round(len(packets.content) / float(due[-1]) / 1e6, 1),
        **measured,
        "pictures": len(shown.drawn),
        "longest_between": round(float(gaps[: measured.pop("during") - 1].max()), 2),
        "as_scan": all(found[key] == expected[key] for key in found),
        "exit": shown.process.wait(10),
    }


def counted(path: Path) -> dict[str, Any]:
    """Return the operations that ``birthmark scan`` counts: all, by user, and by client."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "counts.parquet")
        subprocess.run(
            [*SCAN, str(path), "--by", "user,client", "--out", str(out)],
            check=True,
            capture_output=True,
        )
        table = pq.read_table(out)
    sums = {}
    for key, column in (("user", "uid"), ("client", "client")):
        rows = table.group_by(column).aggregate([("ops", "sum")]).to_pylist()
        sums[key] = {str(row[column]): row["ops_sum"] for row in rows}
    return {"all": sum(table["ops"].to_pylist()), **sums}


def rows_of(picture: str) -> dict[str, int]:
    """Return the operations of each row of a picture."""
    rows = re.findall(r"^(\S+) +([\d,]+) +\d+% ", picture, re.MULTILINE)
    return {name: int(ops.replace(",", "")) for name, ops in rows}


def _play(packets: Packets, due: Any, shown: Shown) -> dict[str, Any]:
    """Write packets when they are due, and measure meanwhile."""
    to = shown.process.stdin
    assert to
    to.write(packets.header)
    time.sleep(3)  # the interpreter's start
    began, sent, before, late = time.time(), 0, None, 0.0
    while sent < len(due):
        passed = time.time() - began
        if before is None and passed >= STARTED:
            before = float(due[sent]), shown.cpu()
        ready = int(np.searchsorted(due, passed, side="right"))
        if ready > sent:
            to.write(packets.stamped(sent, ready, began + due[sent:ready]))
            to.flush()
            late = max(late, time.time() - began - passed)
            sent = ready
        time.sleep(TICK)
    assert before, f"expected more than {STARTED:.0f} seconds of traffic"
    cpu, span = shown.cpu() - before[1], float(due[-1]) - before[0]
    to.close()
    return {
        "core_percent": round(100 * cpu / span, 2),
        "during": len(shown.drawn),
        "peak_mb": shown.memory(),
        "writer_waited": round(late, 3),
    }


def _wait(shown: Shown) -> None:
    """Wait until all has come."""
    end = time.monotonic() + 30
    while b"ended" not in shown.last and time.monotonic() < end:
        select.select([], [], [], 0.2)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures", nargs="+", type=Path)
    parser.add_argument("--rate", type=float, default=5000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = [played(path, given.rate) for path in given.captures]
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
