"""What the nightly audits found, day by day, as it is drawn."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from birthmark.data.common.percentages import percent
from birthmark.serving.page import charts
from birthmark.training.registry.versions import Registry
from birthmark.training.reports.labels import AUDITS, AXIS
from birthmark.training.reports.verdict import guessed
from birthmark.training.statistics.standing import Standing, by_key, key_of

SHOWN = 90
"""How many audits are shown, the newest."""

_COUNTS = ("n", "n_false_positive")


@dataclass(frozen=True)
class Figure:
    """How right the answers to one predicate were, all versions that answered together.

    Shares are in percent of the `n` whose end is known: `decided` were a yes or a no, and of these
    `right` came true (None of audits from before there were three answers). `bound` is None where
    none was promised.
    `guess` is how often always the more frequent answer would have been right.
    `standing` is what is known of it by the published version's answers, whose false positives have
    the 95% interval from `false_positives_low` to `false_positives_high`.
    """

    n: int
    decided: float | None
    right: float | None
    false_positives: float | None
    bound: float | None
    standing: Standing | None = None
    false_positives_low: float | None = None
    false_positives_high: float | None = None
    guess: float | None = None


@dataclass(frozen=True)
class Audited:
    """One audit: what it is called, when its data ends, and its figures by predicate's key."""

    name: str
    until: datetime
    servers: Sequence[str]
    version: str | None
    figures: Mapping[str, Figure]
    breaches: Mapping[str, str]
    drift: Sequence[Mapping[str, Any]] | None
    unknown: int
    damaged: int

    @property
    def day(self) -> str:
        """The day on which its data ends (UTC)."""
        return self.until.strftime("%Y-%m-%d")


@dataclass
class Audits:
    """The audits in a registry; each is read again only once it was replaced.

    `unreadable` are the reasons for those that cannot be read.
    """

    registry: Registry
    unreadable: list[str] = field(default_factory=list)
    _read: dict[str, tuple[Hashable, Audited | str]] = field(default_factory=dict)

    def newest(self) -> list[Audited]:
        """Return the newest of them, oldest first."""
        names = [f"{AUDITS}/{name}" for name in self.registry.names(AUDITS)]
        held = {name: self.registry.stamp(name) for name in names if name.endswith(".json")}
        # Others may ask at the same time: what is kept is replaced, never changed.
        kept = {name: own for name, own in self._read.items() if own[0] == held.get(name)}
        for name, stamp in held.items():
            if name not in kept:
                kept[name] = stamp, _audited(self.registry, name)
        self._read = kept
        found = [each for _, each in kept.values()]
        self.unreadable = sorted(each for each in found if isinstance(each, str))
        audits = [each for each in found if isinstance(each, Audited)]
        return sorted(audits, key=lambda each: (each.until, each.name))[-SHOWN:]


def _audited(registry: Registry, name: str) -> Audited | str:
    try:
        said = json.loads(registry.read(name) or b"")
        rows: dict[str, list[dict[str, Any]]] = {}
        for row in said["figures"]:
            rows.setdefault(key_of(row), []).append(row)
        return Audited(
            PurePosixPath(name).stem,
            datetime.fromisoformat(said["until"]),
            said["servers"],
            said["version"],
            {key: _figure(own, said["version"]) for key, own in rows.items()},
            said["breaches"],
            said["drift"],
            sum(said["unknown"].values()),
            len(said["damaged"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{registry.place}/{name}: expected an audit: {error!r}"


def _figure(rows: Sequence[Mapping[str, Any]], version: str | None) -> Figure:
    """Return the figure of rows that promise a bound, if there are any, else of all."""
    judged = next(iter(by_key(rows, version).values()), {})
    rows = [row for row in rows if row["bound"] is not None] or rows
    n, wrong = (sum(row[name] for row in rows) for name in _COUNTS)
    told = [row for row in rows if row.get("decided") is not None]
    decided = sum(row["n"] * row["decided"] / 100 for row in told)
    right = sum(row["n"] * row["decided"] * (row["right"] or 0) / 10_000 for row in told)
    return Figure(
        n,
        percent(decided, sum(row["n"] for row in told)),
        percent(right, decided),
        percent(wrong, n),
        min((row["bound"] for row in rows if row["bound"] is not None), default=None),
        Standing(judged["standing"]) if judged else None,
        judged.get("false_positives_low"),
        judged.get("false_positives_high"),
        _guess(rows, n),
    )


def _guess(rows: Sequence[Mapping[str, Any]], n: int) -> float | None:
    """Return how often a guess was right in all rows, percent; None where one does not say."""
    right = guessed((row["n"], row.get("guess")) for row in rows)
    return None if right is None else percent(right, n)


def standings(audits: Sequence[Audited]) -> list[Standing]:
    """Return what is known of each bound by the newest audit of each server's."""
    newest = {tuple(each.servers): each for each in audits}
    return [f.standing for each in newest.values() for f in each.figures.values() if f.standing]


def drawn(audits: Sequence[Audited]) -> dict[str, Any]:
    """Return the charts of all predicates together, and a row for each."""
    days = [each.day for each in audits]
    right = [_mean([f.right for f in each.figures.values()]) for each in audits]
    decided = [_mean([f.decided for f in each.figures.values()]) for each in audits]
    worst = [_worst(each) for each in audits]
    said = charts.chart("Yes and no", "percent, mean over predicates", days, right=right)
    said["y"] = [(100.0, "0"), (50.0, "50"), (0.0, "100")]
    said["lines"] = {
        "decided": charts.segments(decided, 100.0),
        "right": charts.segments(right, 100.0),
    }
    wrong = charts.chart(
        "False positives", "worst predicate, in bounds", days, false_positives=worst
    )
    top = max(2.0, charts.rounded(max((w for w in worst if w), default=0.0)))
    wrong["lines"] = {"false_positives": charts.segments(worst, top)}
    wrong["y"] = [(100.0, "0"), (0.0, charts.short(top))]
    wrong["bound"] = 100 - 100 / top
    keys = dict.fromkeys(key for each in reversed(audits) for key in each.figures)
    return {"charts": [said, wrong], "rows": [_row(key, audits) for key in keys]}


def _worst(audit: Audited) -> float | None:
    """Return the most false positives of any predicate, in bounds."""
    shares = [
        figure.false_positives / figure.bound
        for figure in audit.figures.values()
        if figure.bound and figure.false_positives is not None
    ]
    return max(shares, default=None)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _row(key: str, audits: Sequence[Audited]) -> dict[str, Any]:
    every = [each.figures.get(key) for each in audits]
    day, last = next(
        (a.day, f) for a, f in zip(reversed(audits), reversed(every), strict=True) if f
    )
    wrong = [figure.false_positives if figure else None for figure in every]
    return {
        "predicate": key,
        "day": day,
        "last": last,
        "right": charts.segments([figure.right if figure else None for figure in every], 100.0),
        # as on an audit's own page, the axis ends at so many bounds
        "wrong": charts.segments(wrong, AXIS * last.bound) if last.bound else [],
        "bound": 100 - 100 / AXIS,
    }
