"""The pictures of ``birthmark top``, as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from rich.cells import cell_len, set_cell_size

from birthmark.data.common.durations import SECOND
from birthmark.data.common.visible import visible
from birthmark.data.generated import Mark, describe
from birthmark.data.settings import Ranked, TopKey
from birthmark.data.top.feeds import Lost
from birthmark.data.top.load import Row, Snapshot
from birthmark.data.top.sums import Evicted
from birthmark.terminal import Styled, shortened_apart, stacked, styled

PLURALS: dict[TopKey, str] = {
    "user": "Users",
    "client": "Clients",
    "directory": "Dirs",
    "file": "Files",
}
_LONG = {"user": "users", "client": "clients", "directory": "directories", "file": "files"}
ORDERS: dict[Ranked, str] = {name: name.capitalize() for name in get_args(Ranked)} | {
    "errors": "Errs"
}
"""The kinds of rows; the first letter of each is its key."""

LEAST_NAME = 16
"""Least width of a name; narrower terminals leave out columns."""

NOBODY = "(none)"
_SPARE = ("mostly", "share", "latency", "errors", "written", "read")
_SHORT = {"readdirplus": "readdir+"}


@dataclass(frozen=True)
class Picture:
    """The contents of a screen.

    Attributes:
        title: the traces.
        seen: the counts of the window.
        by, order: the key of the rows, and their order.
        live: the window in words, as ``last 10 s``; empty for a whole trace.
        per_second: whether numbers are rates per second.
        clock: the trace's time, µs since the epoch; None before traffic.
        operations, since: number since the start, and the time of the start.
        behind: the lag, seconds; None if it has no meaning.
        state: the state in a word, as ``paused``.
        help: whether the keys are explained in place of the rows.
        lost, generated: the loss, and the marks of generated traffic.
        users: names by number.
    """

    title: str
    seen: Snapshot
    by: TopKey
    order: Ranked
    live: str = ""
    per_second: bool = False
    clock: int | None = None
    operations: int = 0
    since: int | None = None
    behind: float | None = None
    state: str = ""
    help: bool = False
    lost: Lost = field(default_factory=Lost)
    generated: Sequence[Mark] = ()
    users: Mapping[int, str] = field(default_factory=dict)

    def name(self, key: TopKey, row: Row) -> str:
        """Return the name of a row."""
        if row.name is None:
            return NOBODY
        if key == "user" and isinstance(row.name, int):
            return self.users.get(row.name, str(row.name))
        return str(row.name)


def title(traces: Sequence[str]) -> str:
    """Return a short title of the traces."""
    first = "stdin" if traces[0] == "-" else Path(traces[0]).name
    return first if len(traces) == 1 else f"{first} and {len(traces) - 1} more"


def screen(picture: Picture, width: int, height: int) -> Styled:
    """Return a whole screen: the head, as many rows as there is room for, and the keys."""
    head = heading(picture)
    room = max(height - len(head) - 2, 0)
    body = help_lines() if picture.help else table(picture, picture.by, width, room)
    body = body[: room + 1]
    body += [styled("", "")] * (room + 1 - len(body))
    shown = [*head, *body, keys(picture)][:height]
    for line in shown:
        line.truncate(width)
    return stacked(shown)


def heading(picture: Picture) -> list[Styled]:
    """Return the lines about the total."""
    seen = picture.seen
    total, seconds = seen.total, seen.seconds if picture.per_second else None
    rate = "" if seconds is None else "/s"
    share = f" ({_percent(total.errors, total.ops)})" if total.errors else ""
    when = [picture.live, _clock(picture.clock)] if picture.live else [_span(seen)]
    first = [picture.title, *when, _behind(picture), picture.state]
    work = (
        f"{_number(total.ops, seconds)} ops{rate}",
        f"{_megabytes(total.bytes_read, seconds)} MB{rate} read",
        f"{_megabytes(total.bytes_written, seconds)} MB{rate} written",
        f"{_number(total.errors, seconds)} errors{rate}{share}",
    )
    mean = f"{_ms(total.latency_mean)} ms, 99% within {_ms(total.latency_p99)} ms"
    beside = picture.per_second and picture.operations  # else the total has it
    more = [
        "" if total.latency_mean is None else f"latency {mean}",
        f"{total.unanswered:,} unanswered" if total.unanswered else "",
        f"{picture.operations:,} ops since {_time(picture.since)}" if beside else "",
    ]
    lines = [
        styled("   ".join(filter(None, first)), "bold"),
        styled("   ".join(work), ""),
        styled("   ".join(filter(None, more)) or "no operation yet", ""),
    ]
    notes = ", ".join(_notes(picture))
    return [*lines, *([styled(notes, "yellow")] if notes else [])]


def _notes(picture: Picture) -> list[str]:
    lost = picture.lost
    gone = picture.seen.evicted.get(picture.by, Evicted())
    found = [lost.unread.partition("; ")[0]] if lost.unread else []
    found += [describe(picture.generated)] if picture.generated else []
    for number, what in (
        (lost.packets, "packets dropped by the capture"),
        (lost.gaps, "gaps in which calls were lost"),
        (lost.damaged, "damaged records set aside"),
        (lost.files, "files passed over"),
        (gone.values, f"{_LONG[picture.by]} evicted that had up to {gone.ops:,} ops"),
        (gone.paths, "files' paths evicted"),
    ):
        found += [f"{number:,} {what}"] if number else []
    return found


def table(picture: Picture, key: TopKey, width: int | None, count: int) -> list[Styled]:
    """Return the busiest of a kind, under the names of the columns.

    Without a width, no column is cut.
    """
    rows = picture.seen.rows.get(key, [])[:count]
    columns = _columns(picture, rows)
    for name in _SPARE:
        used = sum(1 + max(map(len, cells)) for cells in columns.values())
        if width is None or width - used >= LEAST_NAME or len(columns) == 1:
            break
        if name not in _ordered_by(picture.order):
            columns.pop(name)
    widths = {name: max(map(len, cells)) for name, cells in columns.items()}
    names = [visible(picture.name(key, row)) for row in rows]
    longest = max(map(cell_len, [key, *names]))
    room = longest if width is None else max(width - sum(widths.values()) - len(widths), 4)
    lines = []
    for at, name in enumerate([key, *shortened_apart(names, room)]):
        line = styled(set_cell_size(name, room), "bold" if not at else "")
        for column, cells in columns.items():
            left = column == "mostly"
            cell = cells[at].ljust(widths[column]) if left else cells[at].rjust(widths[column])
            marked = not at and column in _ordered_by(picture.order)
            line.append(" ").append(cell, "reverse" if marked else "")
        lines.append(line)
    return lines


def _columns(picture: Picture, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the columns after the name, by heading."""
    seconds = picture.seen.seconds if picture.per_second else None
    rate = "" if seconds is None else "/s"
    total = picture.seen.total.ops
    return {
        "ops": [f"ops{rate}", *(_number(row.ops, seconds) for row in rows)],
        "share": ["share", *(_percent(row.ops, total) for row in rows)],
        "read": [f"MB{rate} read", *(_megabytes(row.bytes_read, seconds) for row in rows)],
        "written": ["written", *(_megabytes(row.bytes_written, seconds) for row in rows)],
        "latency": ["ms", *(_ms(row.latency_mean) for row in rows)],
        "errors": [f"errors{rate}", *(_number(row.errors, seconds) for row in rows)],
        "mostly": ["mostly", *(_SHORT.get(row.mostly, row.mostly) for row in rows)],
    }


def _ordered_by(order: Ranked) -> tuple[str, ...]:
    return ("read", "written") if order == "bytes" else (order,)


def keys(picture: Picture) -> Styled:
    """Return the line of keys."""
    line = styled("", "")
    for words, chosen in ((PLURALS, picture.by), (ORDERS, picture.order)):
        for key, word in words.items():
            style = "reverse" if key == chosen else ""
            line.append(word[0], f"bold underline {style}").append(word[1:], style).append(" ")
        line.append(" ")
    for word in ("Time", "Pause", "Quit", "?"):
        line.append(word[0], "bold underline").append(word[1:]).append(" ")
    line.rstrip()
    return line


HELP = {
    "u c d f": "show users, clients, directories or files",
    "Tab": "show the next of these",
    "o b r w l e": "order by operations, bytes, bytes read or written, latency or errors",
    "t": "live: look back 10 s, 1 min, or to the start",
    "p Space": "live: pause and resume",
    "q": "quit",
    "? h": "show and hide this help",
}
"""The keys and their actions."""


def help_lines() -> list[Styled]:
    """Return the lines that explain the keys."""
    width = max(map(len, HELP))
    return [styled(key.ljust(width), "bold").append(f"  {text}") for key, text in HELP.items()]


def _number(value: int, seconds: float | None) -> str:
    """Return a number, per second if a time is given: small rates with one decimal."""
    if seconds is None or not value:
        return f"{value:,}"
    each = value / max(seconds, 1e-6)
    return f"{each:,.0f}" if each >= 100 else f"{each:.1f}"


def _megabytes(value: int, seconds: float | None) -> str:
    """Return bytes in megabytes, per second if a time is given: small ones with three digits."""
    each = value / 1e6 if seconds is None else value / 1e6 / max(seconds, 1e-6)
    if not value or each >= 100:
        return f"{each:,.0f}"
    return f"{each:.1f}" if each >= 10 else f"{each:.2f}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "-"


def _ms(micros: float | None) -> str:
    if micros is None:
        return "-"
    return f"{micros / 1e3:,.2f}" if micros < 100_000 else f"{micros / 1e3:,.0f}"


def _time(micros: int | None) -> str:
    return "-" if micros is None else f"{datetime.fromtimestamp(micros / SECOND, UTC):%H:%M:%S}"


def _clock(micros: int | None) -> str:
    if micros is None:
        return ""
    return f"{datetime.fromtimestamp(micros / SECOND, UTC):%F %T} UTC"


def _span(seen: Snapshot) -> str:
    """Return when a whole trace begins, and how long it is."""
    if not seen.total.ops:
        return ""
    seconds = round(seen.seconds)
    minutes = f"{seconds // 60} min" if seconds >= 600 else f"{seconds:,} s"
    return f"{minutes} from {_clock(seen.since)}"


def _behind(picture: Picture) -> str:
    return "" if picture.behind is None else f"{picture.behind:,.1f} s behind"
