"""Traces made of lives: the traffic behind them, as nfsdump writes it."""

from __future__ import annotations

from typing import Any


def trace_of(rows: list[dict[str, Any]]) -> str:
    """Return the traffic that makes such lives, as nfsdump writes it."""
    lines: list[tuple[float, str]] = []
    for number, row in enumerate(rows):
        born, died, size = row["born"].timestamp(), row["died"], row["max_size"]
        handle, name = f"{number + 1:064x}", row["name"].decode()
        create = f'fh {0:064x} name "{name}" how U mode {row["mode"]:x} uid 1 gid 1'
        lines += exchange(born, 8, "create", create, f"fh {handle} {attributes(born, 0)}")
        if size:
            stored = f"{attributes(born + 0.1, size)} count {size:x} stable F"
            write = f"fh {handle} off 0 count {size:x} stable F"
            lines += exchange(born + 0.1, 7, "write", write, stored)
        if died is not None:
            lines += exchange(died.timestamp(), 12, "remove", f'fh {0:064x} name "{name}"', "")
    return "".join(
        line.replace("XID", f"{number // 2:x}") for number, (_, line) in enumerate(sorted(lines))
    )


def exchange(time: float, number: int, op: str, call: str, reply: str) -> list[tuple[float, str]]:
    """Return a call and its reply a tenth of a millisecond later, each with its time."""
    asked = f"{time:.6f} 31.03ff 30.0801 T C3 XID {number:x} {op} {call} con = 1 len = 1\n"
    answer = (
        f"{time + 1e-4:.6f} 30.0801 31.03ff T R3 XID {number:x} {op} OK {reply}"
        " status=0 pl = 1 con = 1 len = 1\n"
    )
    return [(time, asked), (time + 1e-4, answer)]


def attributes(time: float, size: int) -> str:
    times = " ".join(f"{name} {time:.6f}" for name in ("atime", "mtime", "ctime"))
    return (
        f"ftype 1 mode 180 nlink 1 uid 1 gid 1 size {size:x} used {size:x}"
        f" rdev 0 rdev2 0 fsid 1 fileid 1 {times}"
    )
