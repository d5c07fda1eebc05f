"""What is shown to people: what its files are called, and what its kinds, subjects and axes are.

Who shows it need not import what makes it.
"""

from collections.abc import Iterable

from birthmark.predictor.models.kinds import BEST, KINDS

AUDITS = "audits"
"""The folder of a registry's audits."""

REPORT = "report.html"
"""What the report is called in a dataset, and the newest in a registry."""

CARD_HTML, CARD_JSON = "card.html", "card.json"
"""The card among a version's parts, for people and for programs."""

TITLES = {name: kind.title for name, kind in KINDS.items()} | {BEST: "Best of each"}
"""What the kinds of model are called on the pages, in the order of their columns."""


def titles(kinds: Iterable[str]) -> dict[str, str]:
    """Return what `kinds` are called, in the order of their columns; a user's go by their words."""
    there = set(kinds)
    own = {kind: kind for kind in sorted(there - TITLES.keys())}
    return {kind: title for kind, title in TITLES.items() if kind in there} | own


SUBJECTS = {"file": "Files", "name": "File names", "directory": "Directories"}
"""The headings of the tables."""

AXIS = 3
"""The axis of false positives ends at so many times the bound."""
