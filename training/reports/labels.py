"""Labels for people: file names of reports, titles of kinds and subjects, and axes.

They are separate, so that pages need not import training.
"""

from collections.abc import Iterable

from birthmark.predictor.models.kinds import BEST, KINDS

AUDITS = "audits"
"""The folder of a registry's audits."""

REPORT = "report.html"
"""File name of the report in a dataset, and of the newest in a registry."""

EVALUATION_JSON = "evaluation.json"
"""File name of a test's figures in a dataset."""

DAY_HTML, DAY_JSON = "day.html", "day.json"
"""The page about a day in a dataset, and of the newest in a registry; and its figures."""

CARD_HTML, CARD_JSON = "card.html", "card.json"
"""The card among a version's parts, for people and for programs."""

TITLES = {name: kind.title for name, kind in KINDS.items()} | {BEST: "Best of each"}
"""Titles of the kinds of model on pages, in the order of columns."""


def titles(kinds: Iterable[str]) -> dict[str, str]:
    """Return the titles of `kinds` in the order of columns; a user's kinds keep their names."""
    there = set(kinds)
    own = {kind: kind for kind in sorted(there - TITLES.keys())}
    return {kind: title for kind, title in TITLES.items() if kind in there} | own


SUBJECTS = {"file": "Files", "name": "File names", "directory": "Directories"}
"""The headings of the tables."""

AXIS = 3
"""End of the axis of false positives, in bounds."""
