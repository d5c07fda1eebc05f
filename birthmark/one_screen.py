"""The one screen that ``make quickstart`` ends in: what was learned, six names, how right.

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
"""So much of a name is shown."""

SAYINGS = {
    "size=zero": ("stays empty", "gets data"),
    "size>16k": ("grows past 16 KB", "stays within 16 KB"),
    "size>64k": ("grows past 64 KB", "stays within 64 KB"),
    "lifespan<=1": ("gone within a second", "outlives a second"),
    "lifespan<=5": ("gone within 5 s", "outlives 5 s"),
}
"""Predicates that a newcomer understands, in words: what is meant by a yes, and by a no."""


@dataclass(frozen=True)
class Saying:
    """The answer about a file that tells most, and what became of the file.

    ``sure`` is the probability of ``said``.
    """

    name: bytes
    said: str
    sure: float
    became: str
    right: bool


def guessed(replayed: Replayed, before: Mapping[str, float]) -> float:
    """Return how often one is right who always says what was commoner on the day before.

    The mean of all predicates, over the files that were asked about.
    """
    shares = _shares(replayed.born.slice(0, len(replayed.told)))
    right = [share if before[key] > 0.5 else 1 - share for key, share in shares.items()]
    return sum(right) / max(len(right), 1)


def sayings(replayed: Replayed, before: Mapping[str, float]) -> list[Saying]:
    """Return what was said of six files: one, drawn by lot, of each of the commonest suffixes."""
    asked = replayed.born.slice(0, len(replayed.told))
    labels = {key: FILE_PREDICATES[key].evaluate(asked).to_pylist() for key in SAYINGS}
    suffixes = [_suffix(name) for name in asked["name"].to_pylist()]
    lot = Random(0)
    return [
        _saying(asked, labels, replayed.told, place, before)
        for suffix, _ in Counter(suffixes).most_common(NAMES)
        for place in [lot.choice([at for at, own in enumerate(suffixes) if own == suffix])]
    ]


def _suffix(name: bytes) -> bytes:
    """Return what is behind the last period that does not begin the name, or the name."""
    return name[1:].rpartition(b".")[2] if b"." in name[1:] else name


def _saying(
    asked: pa.Table,
    labels: Mapping[str, list[bool | None]],
    told: list[dict[str, Any]],
    place: int,
    before: Mapping[str, float],
) -> Saying:
    likely = told[place]["probabilities"]
    known = [key for key, own in labels.items() if own[place] is not None]
    key = max(known, key=lambda key: _tells(likely[key], before[key]))
    yes = likely[key] >= 0.5
    row = asked.slice(place, 1).to_pylist()[0]
    return Saying(
        row["name"],
        SAYINGS[key][0 if yes else 1],
        max(likely[key], 1 - likely[key]),
        _lived(row) if key.startswith("lifespan") else _grew(row),
        yes == labels[key][place],
    )


def _tells(likely: float, before: float) -> float:
    """Return how much an answer tells: its relative entropy against the day before, in nats."""
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
    """Print what was learned, six names, and how right it was; ``first`` is the day of learning."""
    learned = births(read_files(first))
    before = _shares(learned)
    asked = len(replayed.told)
    _lines(_INTRODUCTION.format(learned=len(learned), asked=asked))
    show(_table(sayings(replayed, before)), columns=COLUMNS)
    shares = [replayed.share("told"), replayed.share("untold"), guessed(replayed, before)]
    _lines(_SUMMARY.format(*shares, questions=len(replayed.scores)))


def _lines(text: str) -> None:
    for each in text.split("\n"):
        line(each)


def _shares(born: pa.Table) -> dict[str, float]:
    """Return of each predicate the share of births that it is true of, where it is known."""
    known = {key: each.evaluate(born).drop_null() for key, each in FILE_PREDICATES.items()}
    return {key: own.true_count / len(own) for key, own in known.items() if len(own)}


_INTRODUCTION = """\
Birthmark learned what became of {learned:,} files in 70 seconds of a real server's
traffic. On the next day it was asked about {asked:,} files as they were created.
It knew their names, modes and owners, and what had become of earlier ones:
"""

_SUMMARY = """
Right: {0:.0%} of the answers to {questions} questions about each file, {1:.0%} if it is
told nothing of earlier ones, {2:.0%} by guessing what was commoner the day before.
"""


def _table(rows: list[Saying]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("new file", "will be", "sure", "was", ""):
        table.add_column(heading, justify="right" if heading == "sure" else "left")
    for each in rows:
        mark = styled("right", "green") if each.right else styled("wrong", "red")
        name = visible(each.name.decode(errors="surrogateescape"))
        shown = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        table.add_row(shown, each.said, f"{each.sure:.1%}", each.became, mark)
    return table
