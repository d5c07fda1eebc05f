"""The last screen of ``make quickstart``: what was learned, six predictions, and the accuracy.

It has at most 24 lines of 80 columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.table import Table

from birthmark.data.common.sizes import in_words
from birthmark.data.common.visible import visible
from birthmark.data.datasets.tables import read_files
from birthmark.predictor import FILE_PREDICATES, births
from birthmark.replayed import Replayed
from birthmark.terminal import line, show, styled

COLUMNS = 80
NAMES = 6
LONGEST = 22
"""Columns of a name that are shown."""

PHRASES = {
    "size=zero": ("stays empty", "gets data"),
    "size>16k": ("grows past 16 KB", "stays within 16 KB"),
    "size>64k": ("grows past 64 KB", "stays within 64 KB"),
    "lifespan<=1": ("gone within a second", "outlives a second"),
    "lifespan<=5": ("gone within 5 s", "outlives 5 s"),
}
"""Predicates for newcomers: the meanings of yes and no."""


@dataclass(frozen=True)
class Statement:
    """The most informative answer about a file, and the outcome.

    ``sure`` is the probability of ``prediction``.
    """

    name: bytes
    prediction: str
    sure: float
    outcome: str
    right: bool


def majority_accuracy(replayed: Replayed, before: Mapping[str, float]) -> float:
    """Return the accuracy of always giving the majority answer of the day before.

    The mean over all predicates, on the replayed files.
    """
    shares = _shares(replayed.born.slice(0, len(replayed.answers)))
    right = [share if before[key] > 0.5 else 1 - share for key, share in shares.items()]
    return sum(right) / max(len(right), 1)


def statements(replayed: Replayed, before: Mapping[str, float]) -> list[Statement]:
    """Return statements about six files: a random one of each of the commonest suffixes."""
    asked = replayed.born.slice(0, len(replayed.answers))
    labels = {key: FILE_PREDICATES[key].evaluate(asked).to_pylist() for key in PHRASES}
    suffixes = [_suffix(name) for name in asked["name"].to_pylist()]
    lot = Random(0)
    return [
        _statement(asked, labels, replayed.answers, place, before)
        for suffix, _ in Counter(suffixes).most_common(NAMES)
        for place in [lot.choice([at for at, own in enumerate(suffixes) if own == suffix])]
    ]


def _suffix(name: bytes) -> bytes:
    """Return the suffix of a name, or the name without one; a leading period starts no suffix."""
    return name[1:].rpartition(b".")[2] if b"." in name[1:] else name


def _statement(
    asked: pa.Table,
    labels: Mapping[str, list[bool | None]],
    answers: list[dict[str, Any]],
    place: int,
    before: Mapping[str, float],
) -> Statement:
    likely = answers[place]["probabilities"]
    known = [key for key, own in labels.items() if own[place] is not None]
    key = max(known, key=lambda key: _information(likely[key], before[key]))
    yes = likely[key] >= 0.5
    row = asked.slice(place, 1).to_pylist()[0]
    return Statement(
        row["name"],
        PHRASES[key][0 if yes else 1],
        max(likely[key], 1 - likely[key]),
        _lived(row) if key.startswith("lifespan") else _grew(row),
        yes == labels[key][place],
    )


def _information(likely: float, before: float) -> float:
    """Return the relative entropy of an answer against the day before, in nats."""
    pairs = ((likely, before), (1 - likely, 1 - before))
    return sum(now * log(now / max(then, 1e-9)) for now, then in pairs if now > 0)


def _lived(row: Mapping[str, Any]) -> str:
    if row["died"] is None:
        seen = (row["observed_until"] - row["born"]).total_seconds()
        return f"there at {seen:.0f} s"
    return f"gone at {(row['died'] - row['born']).total_seconds():.2g} s"


def _grew(row: Mapping[str, Any]) -> str:
    size = row["max_size"] or 0
    return in_words(size) if size else "empty"


def show_screen(first: Path, replayed: Replayed) -> None:
    """Print what was learned, six predictions, and the accuracy; ``first`` is the training day."""
    learned = births(read_files(first))
    before = _shares(learned)
    asked = len(replayed.answers)
    _lines(_INTRODUCTION.format(learned=len(learned), asked=asked))
    show(_table(statements(replayed, before)), columns=COLUMNS)
    shares = [
        replayed.share("with history"),
        replayed.share("without history"),
        majority_accuracy(replayed, before),
    ]
    _lines(_SUMMARY.format(*shares, questions=len(replayed.scores)))


def _lines(text: str) -> None:
    for each in text.split("\n"):
        line(each)


def _shares(born: pa.Table) -> dict[str, float]:
    """Return each predicate's share of true labels among known ones."""
    known = {key: each.evaluate(born).drop_null() for key, each in FILE_PREDICATES.items()}
    return {key: own.true_count / len(own) for key, own in known.items() if len(own)}


_INTRODUCTION = """\
Birthmark learned what became of {learned:,} files in 70 seconds of a real server's
traffic. On the next day it was asked about {asked:,} files as they were created.
It knew their names, modes and owners, and what had become of earlier ones:
"""

_SUMMARY = """
Accuracy: {0:.0%} of the answers to {questions} questions about each file, {1:.0%} without
history, {2:.0%} for always giving the majority answer of the day before.
"""


def _table(rows: list[Statement]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("new file", "will be", "sure", "was", ""):
        table.add_column(heading, justify="right" if heading == "sure" else "left")
    for each in rows:
        mark = styled("right", "green") if each.right else styled("wrong", "red")
        name = visible(each.name.decode(errors="surrogateescape"))
        shown = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        table.add_row(shown, each.prediction, f"{each.sure:.1%}", each.outcome, mark)
    return table
