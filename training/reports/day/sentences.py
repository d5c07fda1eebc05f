"""The figures of a day, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from birthmark.data.common.percentages import percent, shown
from birthmark.data.common.plurals import counted
from birthmark.data.common.sizes import in_words
from birthmark.training.reports.day.figures import Figures

NOTABLE = 0.2
"""Least relative change of a sum to mention."""

NEW_SHARE, OLD_SHARE = 1.0, 0.1
"""An ending is new at this share of the created files (percent), if it had at most that before."""

PREDICATES = 5
"""Number of predicates in the sentences, those with most yes first."""

CHANGING = {
    "ops": "operations a second",
    "errors": "errors a second",
    "bytes_read": "bytes read a second",
    "bytes_written": "bytes written a second",
}
KINDS = {"user": "user", "client": "client", "directory": "directory", "file": "file"}

YES = {
    "lock": "is a lock",
    "size=zero": "stays empty",
    "0<size<=16k": "gets at most 16 KB of data",
    "0<size<=64k": "gets at most 64 KB of data",
    "0<size<1M": "gets less than 1 MB of data",
    "size>16k": "grows past 16 KB",
    "size>64k": "grows past 64 KB",
    "size>1M": "grows past 1 MB",
    "amtime<=0": "is not read after its last write",
    "amtime>0": "is read after its last write",
    "lifespan<=1": "is gone within a second",
    "lifespan<=5": "is gone within 5 seconds",
    "lifespan<=30": "is gone within 30 seconds",
    "1<lifespan<=30": "is gone after more than a second, within 30",
    "lifespan>1": "is there after a second",
    "lifespan>5": "is there after 5 seconds",
    "write-only": "is written and never read",
    "read-only": "is read and never written",
}
"""The meaning of a yes, by predicate of files."""


def load(day: Figures) -> Iterator[str]:
    """Yield sentences on the load and the busiest."""
    total = day.total
    yield (
        f"{counted(total['ops'], 'operations')} in {duration(day.seconds)},"
        f" {day.rate('ops'):,.1f} a second; {in_words(total['bytes_read'])} were read and"
        f" {in_words(total['bytes_written'])} written; {counted(day.births, 'files')} were created."
    )
    if total["latency_mean"] is not None:
        slow = total["latency_p99"]
        tail = f", and 99% of them at most {latency(slow)}" if slow is not None else ""
        yield f"Replies took {latency(total['latency_mean'])} on average{tail}."
    for key, name in KINDS.items():
        if rows := day.busiest.get(key):
            row = _telling(rows, total["ops"]) if key == "directory" else rows[0]
            yield _busiest(name, row, total["ops"])


def _telling(rows: Sequence[Mapping[str, Any]], ops: int) -> Mapping[str, Any]:
    """Return the deepest directory with a notable share; its parents have at least that."""
    notable = [row for row in rows if row["ops"] >= NOTABLE * ops]
    return max(notable, key=lambda row: str(row["name"]).count("/")) if notable else rows[0]


def _busiest(kind: str, row: Mapping[str, Any], ops: int) -> str:
    name = "that no call named" if row["name"] is None else row["name"]
    mostly = f", mostly {row['mostly']}" if row["mostly"] else ""
    return f"The busiest {kind} was {name}: {shown(percent(row['ops'], ops))} of all{mostly}."


def changes(day: Figures, before: Figures | None) -> Iterator[str]:
    """Yield the changes from the day before."""
    if before is None:
        yield "There is no earlier day of this server to compare with."
        return
    notable = list(_changed_sums(day, before))
    if notable:
        yield f"Compared with {before.since[:10]}: {', '.join(notable)}."
    else:
        yield f"The load was that of {before.since[:10]}, within {NOTABLE:.0%}."
    new = [user for user in day.users if user not in before.users]
    if shares := [(user, percent(day.users[user], day.total["ops"]) or 0) for user in new]:
        yield f"New users: {_listed(f'{user} ({shown(share)})' for user, share in shares)}."
    if endings := list(_new_endings(day, before)):
        yield f"New among the created files: {_listed(endings)}."


def _changed_sums(day: Figures, before: Figures) -> Iterator[str]:
    rates = {text: (day.rate(name), before.rate(name)) for name, text in CHANGING.items()}
    rates["files created a second"] = (day.births / day.seconds, before.births / before.seconds)
    for text, (now, then) in rates.items():
        if now and not then:
            yield f"{text}, none before"
        elif then and abs(now / then - 1) >= NOTABLE:
            yield f"{abs(now / then - 1):.0%} {'more' if now > then else 'fewer'} {text}"
    now, then = (each.total["latency_mean"] for each in (day, before))
    if now and then and abs(now / then - 1) >= NOTABLE:
        yield f"mean latency {abs(now / then - 1):.0%} {'higher' if now > then else 'lower'}"


def _new_endings(day: Figures, before: Figures) -> Iterator[str]:
    for ending, count in day.endings.items():
        share = percent(count, day.births) or 0
        old = percent(before.endings.get(ending, 0), before.births) or 0
        if share >= NEW_SHARE and old <= OLD_SHARE:
            yield f"{ending} ({shown(share)})"


def model(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences on the model's answers about the files of the day.

    `rows` are those of `ANSWERS` of the served kind and operating point.
    """
    predicted = [row for row in rows if row["subject"] == "file" and row["n"] and row["n_yes"]]
    for row in sorted(predicted, key=lambda row: -row["n_yes"]):
        if (words := YES.get(row["predicate"])) is not None:
            right = percent(row["n_yes"] - row["n_false_positive"], row["n_yes"])
            yield (
                f"A file {words}: predicted for {row['n_yes']:,} of {row['n']:,} files,"
                f" correct for {shown(right)} of them."
            )


def _listed(words: Iterable[str]) -> str:
    found = list(words)
    more = [f"{len(found) - PREDICATES} more"] if len(found) > PREDICATES else []
    return ", ".join([*found[:PREDICATES], *more])


def duration(seconds: float) -> str:
    """Return a duration in the largest unit with a value of at least two."""
    for unit, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{seconds:.0f} seconds"


def latency(micros: float) -> str:
    """Return a latency in microseconds, milliseconds or seconds."""
    for unit, name in ((1e6, "s"), (1e3, "ms")):
        if micros >= unit:
            return f"{micros / unit:.1f} {name}"
    return f"{micros:.0f} µs"
