"""``birthmark top`` for scripts: a line or an object for each window, or one picture."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from birthmark.commands.top_page import Picture, heading, table, title
from birthmark.data.common.durations import SECOND
from birthmark.data.common.visible import visible
from birthmark.data.generated import Mark, comment, label
from birthmark.data.settings import TopKey
from birthmark.data.top.feeds import Lost
from birthmark.data.top.load import KEYS, Row, Snapshot
from birthmark.terminal import Terminal

SUMS = ("ops", "errors", "bytes_read", "bytes_written")
WIDTH = 80
HEAD = f"#time seconds {' '.join(SUMS)} us_mean us_p99 {' '.join(KEYS)}"
"""The names of the columns; the last are the busiest of each kind."""


def write(text: str) -> None:
    """Write a line on standard output, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def begin(marks: Sequence[Mark]) -> None:
    """Write the marks of generated traces, and the headings of the columns."""
    for mark in marks:
        write(comment(mark).decode())
    write(HEAD)


def as_line(seen: Snapshot, users: Mapping[int, str]) -> str:
    """Return a window as words between blanks, in the order of `HEAD`."""
    total = seen.total
    numbers = [seen.since / SECOND, seen.seconds, *(getattr(total, name) for name in SUMS)]
    latencies = [total.latency_mean, total.latency_p99]
    busiest = [_name(key, seen.rows.get(key, []), users) for key in KEYS]
    figures = [_word(each) for each in (*numbers, *latencies)]
    return " ".join([*figures, *busiest])


def _word(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}".rstrip("0").rstrip(".")


def _name(key: TopKey, rows: Sequence[Row], users: Mapping[int, str]) -> str:
    if not rows or rows[0].name is None:
        return "-"
    name = rows[0].name
    text = users.get(name, str(name)) if isinstance(name, int) else name
    return visible(text).replace(" ", "\\x20")


def as_object(
    seen: Snapshot, users: Mapping[int, str], lost: Lost, generated: Sequence[Mark]
) -> str:
    """Return a window as one JSON object."""
    members: dict[str, Any] = {
        "since": _instant(seen.since),
        "until": _instant(seen.until),
        "seconds": seen.seconds,
        **_figures(seen.total),
        "latency_p99": seen.total.latency_p99,
        **{key: [_row(key, row, users) for row in rows] for key, rows in seen.rows.items()},
        "lost": {"aside" if name == "damaged" else name: n for name, n in asdict(lost).items()},
    }
    return json.dumps(members | ({"generated": label(generated)} if generated else {}))


def _figures(row: Row) -> dict[str, Any]:
    figures = asdict(row)
    return {name: figures[name] for name in (*SUMS, "unanswered", "latency_mean")}


def _row(key: TopKey, row: Row, users: Mapping[int, str]) -> dict[str, Any]:
    own: dict[str, Any] = {"name": row.name}
    if key == "user":
        name = users.get(row.name) if isinstance(row.name, int) else None
        own = {"name": name, "uid": row.name}
    return own | _figures(row) | {"mostly": row.mostly}


def _instant(micros: int) -> str:
    return datetime.fromtimestamp(micros / SECOND, UTC).isoformat()


def print_busiest(seen: Snapshot, traces: Sequence[str], count: int, **more: Any) -> None:
    """Print the head, and the busiest of each kind, in 80 columns or those of the terminal."""
    terminal = Terminal()
    width = terminal.width if terminal.is_terminal else WIDTH
    shown = [Picture(title(traces), seen, key, "ops", **more) for key in KEYS]
    tables = [line for each in shown for line in table(each, each.by, width, count)]
    for line in [*heading(shown[0]), *tables]:
        line.rstrip()
        terminal.print(line, soft_wrap=True)


def print_picture(picture: Picture, count: int) -> None:
    """Print the head, and the busiest of one kind."""
    terminal = Terminal()
    width = terminal.width if terminal.is_terminal else None
    for line in [*heading(picture), *table(picture, picture.by, width, count)]:
        line.rstrip()
        terminal.print(line, soft_wrap=True)
