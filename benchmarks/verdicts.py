"""Whether our models do what is claimed of them, in one table of figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

BASELINES = ("name", "able")
OURS = ("rules", "forest", "best")

Row = Mapping[str, Any]


class Figures:
    """The rows of all tests, by model, predicate, test, and whether there is a bound."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._at = {self._place(row): row for row in self.rows}
        self.tests = list(dict.fromkeys(row["test"] for row in self.rows))
        self.predicates = list(dict.fromkeys(row["predicate"] for row in self.rows))
        self.models = list(dict.fromkeys(row["model"] for row in self.rows))

    @staticmethod
    def _place(row: Row) -> tuple[str, str, str, bool]:
        return row["model"], row["predicate"], row["test"], row["bound"] is not None

    def of(self, model: str, predicate: str, test: str, bounded: bool) -> Row:
        """Return a row."""
        return self._at[model, predicate, test, bounded]

    def errors(self, model: str, test: str) -> float:
        """Return the mean over predicates of how often the accurate threshold is wrong."""
        each = [self.of(model, predicate, test, False)["correct"] for predicate in self.predicates]
        return 1 - float(np.mean([correct for correct in each if correct is not None]))

    @property
    def peers(self) -> list[str]:
        """The models that are neither ours nor the baselines."""
        return [model for model in self.models if model not in (*BASELINES, *OURS)]

    @property
    def ours(self) -> str | None:
        """The best of our models: fewest errors over all tests; None where none was run."""
        own = [model for model in self.models if model in OURS]
        return min(
            own, key=lambda m: np.mean([self.errors(m, t) for t in self.tests]), default=None
        )

    def best_peer(self, predicate: str, test: str) -> Row | None:
        """Return the row of the peer with most true positives, among those within the bound."""
        rows = (self.of(peer, predicate, test, True) for peer in self.peers)
        rows = (row for row in rows if not row["broken"])
        return max(rows, key=lambda row: row["true_positives"] or 0, default=None)


def verdicts(figures: Figures) -> list[tuple[str, bool, str]]:
    """Return each claim, whether it is met, and the figures or places that say so."""
    ours = figures.ours
    if ours is None:
        return []
    found = [_errors_halved(figures, ours)]
    if "able" in figures.models:
        found.append(
            _each(figures, "fewer errors than able on each predicate", _fewer(ours, "able"))
        )
    found.append(_each(figures, "without the bound never below guessing", _guess(ours)))
    found.append(_each(figures, "never below name without the bound", _not_below(ours, "name")))
    found.append(_each(figures, "never over the bound by more than sampling", _kept(ours)))
    if figures.peers:
        found.append(
            _each(figures, "true positives at least the best peer's", _beats_peers(figures, ours))
        )
        found.append(_more_on_most(figures, ours))
    return [(f"{ours}: {claim}", met, why) for claim, met, why in found]


def _errors_halved(figures: Figures, ours: str) -> tuple[str, bool, str]:
    ratios = [figures.errors(ours, t) / figures.errors("name", t) for t in figures.tests]
    shown = ", ".join(f"{t} {r:.2f}" for t, r in zip(figures.tests, ratios, strict=True))
    mean = float(np.mean(ratios))
    return "mean error at most half of name's", mean <= 0.5, f"ratio {mean:.3f} ({shown})"


Check = Callable[[Figures, str, str], bool]


def _each(figures: Figures, claim: str, holds: Check) -> tuple[str, bool, str]:
    """Judge a claim about every predicate on every test, and say where it fails."""
    failed: dict[str, list[str]] = {}
    for test in figures.tests:
        for predicate in figures.predicates:
            asked = figures.of(figures.models[0], predicate, test, False)["n"]
            if asked and not holds(figures, predicate, test):
                failed.setdefault(test, []).append(predicate)
    why = "; ".join(f"{test}: {', '.join(names)}" for test, names in failed.items())
    return claim, not failed, f"not on {why}" if failed else "on all"


def _fewer(ours: str, other: str) -> Check:
    def holds(figures: Figures, predicate: str, test: str) -> bool:
        own, its = (figures.of(m, predicate, test, False)["correct"] for m in (ours, other))
        return bool(own > its or own == its == 1)  # fewer errors than none there cannot be

    return holds


def _not_below(ours: str, other: str) -> Check:
    return lambda figures, predicate, test: (
        figures.of(ours, predicate, test, False)["correct"]
        >= figures.of(other, predicate, test, False)["correct"]
    )


def _guess(ours: str) -> Check:
    def holds(figures: Figures, predicate: str, test: str) -> bool:
        row = figures.of(ours, predicate, test, False)
        return bool(row["correct"] >= row["guess"])

    return holds


def _kept(ours: str) -> Check:
    return lambda figures, predicate, test: not figures.of(ours, predicate, test, True)["broken"]


def _beats_peers(figures: Figures, ours: str) -> Check:
    def holds(figures: Figures, predicate: str, test: str) -> bool:
        best = figures.best_peer(predicate, test)
        own = figures.of(ours, predicate, test, True)["true_positives"]
        return best is None or own >= best["true_positives"]

    return holds


def _more_on_most(figures: Figures, ours: str) -> tuple[str, bool, str]:
    more: Sequence[bool] = [
        figures.of(ours, p, t, True)["true_positives"] > best["true_positives"]
        for t in figures.tests
        for p in figures.predicates
        if (best := figures.best_peer(p, t)) is not None and best["n"]
    ]
    claim = "more true positives than the best peer on most"
    return claim, sum(more) > len(more) / 2, f"on {sum(more)} of {len(more)}"
