"""Charts and figures of the nightly audits, day by day."""

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
"""The most audits shown, the newest ones."""

_COUNTS = ("n", "n_false_positive")


@dataclass(frozen=True)
class Figure:
    """The accuracy of the answers to one predicate, for all versions that answered together.

    Shares are in percent of the `n` files whose outcome is known.

    - `coverage` is the share of yes and no answers, and `accuracy` the share of these that were
      correct; None for older audits, without three answers.
    - `bound` is None without a bound; `standing` judges it by the published version's answers,
      whose false positives have the 95% interval `false_positives_low` to `false_positives_high`.
    - `guess` is the accuracy of always giving the more frequent answer.
    """

    n: int
    coverage: float | None
    accuracy: float | None
    false_positives: float | None
    bound: float | None
    standing: Standing | None = None
    false_positives_low: float | None = None
    false_positives_high: float | None = None
    guess: float | None = None


@dataclass(frozen=True)
class Audited:
    """One audit: its name, the end of its data, and its figures by predicate."""

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
    """The audits in a registry; each is read again only after it was replaced.

    `unreadable` has the errors of audits that cannot be read.
    """

    registry: Registry
    unreadable: list[str] = field(default_factory=list)
    _read: dict[str, tuple[Hashable, Audited | str]] = field(default_factory=dict)

    def newest(self) -> list[Audited]:
        """Return the newest audits, oldest first."""
        names = [f"{AUDITS}/{name}" for name in self.registry.names(AUDITS)]
        stamps = {name: self.registry.stamp(name) for name in names if name.endswith(".json")}
        # Other threads may read at the same time, so replace the dictionary, never change it.
        entries = {
            name: entry for name, entry in self._read.items() if entry[0] == stamps.get(name)
        }
        for name, stamp in stamps.items():
            if name not in entries:
                entries[name] = stamp, _audited(self.registry, name)
        self._read = entries
        results = [each for _, each in entries.values()]
        self.unreadable = sorted(each for each in results if isinstance(each, str))
        audits = [each for each in results if isinstance(each, Audited)]
        return sorted(audits, key=lambda each: (each.until, each.name))[-SHOWN:]


def _audited(registry: Registry, name: str) -> Audited | str:
    try:
        report = json.loads(registry.read(name) or b"")
        rows: dict[str, list[dict[str, Any]]] = {}
        for row in report["figures"]:
            rows.setdefault(key_of(row), []).append(row)
        return Audited(
            PurePosixPath(name).stem,
            datetime.fromisoformat(report["until"]),
            report["servers"],
            report["version"],
            {key: _figure(group, report["version"]) for key, group in rows.items()},
            report["breaches"],
            report["drift"],
            sum(report["unknown"].values()),
            len(report["damaged"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{registry.place}/{name}: expected an audit: {error!r}"


def _figure(rows: Sequence[Mapping[str, Any]], version: str | None) -> Figure:
    """Return the figure of the rows with a bound, if there are any, else of all."""
    judged = next(iter(by_key(rows, version).values()), {})
    rows = [row for row in rows if row["bound"] is not None] or rows
    n, wrong = (sum(row[name] for row in rows) for name in _COUNTS)
    judged_rows = [row for row in rows if row.get("decided") is not None]
    decided = sum(row["n"] * row["decided"] / 100 for row in judged_rows)
    correct = sum(row["n"] * row["decided"] * (row["right"] or 0) / 10_000 for row in judged_rows)
    return Figure(
        n,
        percent(decided, sum(row["n"] for row in judged_rows)),
        percent(correct, decided),
        percent(wrong, n),
        min((row["bound"] for row in rows if row["bound"] is not None), default=None),
        Standing(judged["standing"]) if judged else None,
        judged.get("false_positives_low"),
        judged.get("false_positives_high"),
        _guess(rows, n),
    )


def _guess(rows: Sequence[Mapping[str, Any]], n: int) -> float | None:
    """Return the accuracy of a guess over all rows, percent; None if a row lacks it."""
    correct = guessed((row["n"], row.get("guess")) for row in rows)
    return None if correct is None else percent(correct, n)


def standings(audits: Sequence[Audited]) -> list[Standing]:
    """Return the standings of all bounds in the newest audit of each group of servers."""
    newest = {tuple(each.servers): each for each in audits}
    return [f.standing for each in newest.values() for f in each.figures.values() if f.standing]


def drawn(audits: Sequence[Audited]) -> dict[str, Any]:
    """Return the charts of all predicates together, and a row for each."""
    days = [each.day for each in audits]
    accuracy = [_mean([f.accuracy for f in each.figures.values()]) for each in audits]
    coverage = [_mean([f.coverage for f in each.figures.values()]) for each in audits]
    worst = [_worst(each) for each in audits]
    decided = charts.chart(
        "Coverage and accuracy", "percent, mean over predicates", days, right=accuracy
    )
    decided["y"] = [(100.0, "0"), (50.0, "50"), (0.0, "100")]
    decided["lines"] = {
        "decided": charts.segments(coverage, 100.0),
        "right": charts.segments(accuracy, 100.0),
    }
    wrong = charts.chart(
        "False positives", "worst predicate, as multiples of its bound", days, false_positives=worst
    )
    top = max(2.0, charts.rounded(max((w for w in worst if w), default=0.0)))
    wrong["lines"] = {"false_positives": charts.segments(worst, top)}
    wrong["y"] = [(100.0, "0"), (0.0, charts.short(top))]
    wrong["bound"] = 100 - 100 / top
    keys = dict.fromkeys(key for each in reversed(audits) for key in each.figures)
    return {"charts": [decided, wrong], "rows": [_row(key, audits) for key in keys]}


def _worst(audit: Audited) -> float | None:
    """Return the greatest share of false positives of any predicate, as a multiple of its bound."""
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
        "right": charts.segments([figure.accuracy if figure else None for figure in every], 100.0),
        # the same axis as on the page of an audit
        "wrong": charts.segments(wrong, AXIS * last.bound) if last.bound else [],
        "bound": 100 - 100 / AXIS,
    }
