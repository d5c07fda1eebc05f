"""What models say of a file: yes, no or unsure, each with how likely it is.

A yes and a no each keep a bound of their own (``predictor.fit.thresholds``), and are likelier than
not: where few files are alike a bound on all would allow more. Answers about one file do not
contradict each other (``predictor.predicates.worlds``): the surest are kept, and what no world has
together with them becomes unsure. What follows from an answer that is kept is said, too, if the
bounds are kept with it; and how likely an answer is fits those that are surer: what a yes implies
is no less likely than it (``native/learn/src/certainty``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes
from birthmark.features.told import TOLD, Told
from birthmark.predictor.answers.levels import Levels
from birthmark.predictor.answers.operating_points import EVEN, NEVER, OperatingPoints, Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.predicates.worlds import Worlds
from birthmark_native import Certainty

Word = Literal["no", "unsure", "yes"]

WORDS: tuple[Word, ...] = ("no", "unsure", "yes")
"""The three answers, by the number that stands for each in columns."""


@dataclass(frozen=True)
class Said:
    """The answers about one predicate, row by row: indices of ``WORDS``, and how likely a yes is.

    A probability is null where the model was not calibrated.
    """

    words: pa.UInt8Array
    probabilities: pa.DoubleArray

    def word(self, row: int) -> Word:
        """Return the answer of a row."""
        number: int = self.words[row].as_py()
        return WORDS[number]

    def probability(self, row: int) -> float | None:
        """Return how likely a yes is in a row."""
        found: float | None = self.probabilities[row].as_py()
        return found

    def in_words(self) -> pa.StringArray:
        """Return the answers as text."""
        return pa.array(WORDS).take(self.words)

    def is_word(self, word: Word) -> Any:
        """Return where the answer is ``word``, as numpy has it."""
        return self.words.to_numpy() == WORDS.index(word)


def say(
    scores: Mapping[str, Scores],
    points: Mapping[str, OperatingPoints],
    worlds: Iterable[Worlds],
    point: Point,
    abstaining: Iterable[str] = (),
) -> dict[str, Said]:
    """Return by key what ``scores`` say at ``point``; those ``abstaining`` are never a yes."""
    own = {key: points[key] for key in scores}
    certainty = Certainty(described(own, worlds, point), list(abstaining))
    levels = [pa.array(levels_at(own[key], point).of(scores[key])) for key in scores]
    words, probabilities = certainty.say(levels)
    columns = zip(scores, words, probabilities, strict=True)
    return {key: Said(words, likely) for key, words, likely in columns}


def say_told(
    scores: Mapping[str, Scores],
    points: Callable[[Told], Mapping[str, OperatingPoints]],
    told: Mapping[str, Bytes],
    worlds: Iterable[Worlds],
    point: Point,
    abstaining: Iterable[str] = (),
) -> dict[str, Said]:
    """Return the same where not as much is told of each row.

    ``points`` returns those for what is told; ``told`` has by key the place of that in
    ``features.told.TOLD``, row by row. Predicates that have to do with each other (``worlds``) are
    told the same.
    """
    groups: dict[int, list[str]] = {}
    for key in scores:
        groups.setdefault(id(told[key]), []).append(key)
    worlds, abstaining = list(worlds), list(abstaining)
    found: dict[str, Said] = {}
    for keys in groups.values():
        own = {key: scores[key] for key in keys}
        found |= _say_told(own, points, told[keys[0]], worlds, point, abstaining)
    return {key: found[key] for key in scores}


def _say_told(
    scores: Mapping[str, Scores],
    points: Callable[[Told], Mapping[str, OperatingPoints]],
    told: Bytes,
    worlds: Iterable[Worlds],
    point: Point,
    abstaining: Iterable[str],
) -> dict[str, Said]:
    """Return the same of predicates of which each row is told the same."""
    rows = [np.flatnonzero(told == place) for place in range(len(TOLD))]
    parts = [
        say(
            {key: own[some] for key, own in scores.items()}, points(each), worlds, point, abstaining
        )
        for each, some in zip(TOLD, rows, strict=True)
    ]
    order = pa.array(np.argsort(np.concatenate(rows)))

    def together(columns: list[pa.Array]) -> pa.Array:
        return pa.concat_arrays(columns).take(order)

    return {
        key: Said(
            together([part[key].words for part in parts]),
            together([part[key].probabilities for part in parts]),
        )
        for key in scores
    }


def described(points: Mapping[str, OperatingPoints], worlds: Iterable[Worlds], point: Point) -> str:
    """Return, as JSON, what ``Certainty`` is made of."""
    predicates = [
        {
            "key": key,
            "answers": _words(own, point),
            "probabilities": levels_at(own, point).probabilities,
            "follows": point in own.follows,
            "reached": _reached(own, point),
        }
        for key, own in points.items()
    ]
    return json.dumps({"predicates": predicates, "worlds": list(worlds)})


def plainly(keys: Iterable[str]) -> str:
    """Return the same for models that were not calibrated: their answers are a yes or not."""
    plain = {"answers": WORDS[1:], "probabilities": (None, None), "follows": False}
    return json.dumps({"predicates": [{"key": key, **plain} for key in keys], "worlds": []})


def abstained(described: str, abstaining: Collection[str]) -> str:
    """Return what ``Certainty`` is made of where predicates ``abstaining`` are never a yes."""
    said = json.loads(described)
    for each in said["predicates"]:
        if each["key"] in abstaining:
            each["answers"] = ["unsure" if word == "yes" else word for word in each["answers"]]
            each["reached"] = len(each["answers"])
    return json.dumps(said)


def levels_at(points: OperatingPoints, point: Point) -> Levels:
    """Return the levels of a model; without any, one on each side of the threshold."""
    threshold = points.at(point)
    if len(points.levels.cuts) or threshold is None or not 0 < threshold <= 1:
        return points.levels
    return Levels((threshold,), (None, None))


def _reached(points: OperatingPoints, point: Point) -> int | None:
    """Return the first level of which every score is a yes, and below which none is.

    ``None`` where a level has scores of both.
    """
    cuts, yes = levels_at(points, point).cuts, points.at(point)
    if yes is None or yes > 1:
        return len(cuts) + 1
    if yes <= 0:
        return 0
    return cuts.index(yes) + 1 if yes in cuts else None


def _words(points: OperatingPoints, point: Point) -> list[Word]:
    """Return the answer of each level."""
    levels, yes = levels_at(points, point), points.at(point)
    no = 0.0 if points.no is None else points.no
    words: list[Word] = []
    ends = zip((0.0, *levels.cuts), (*levels.cuts, NEVER), levels.probabilities, strict=True)
    for low, high, likely in ends:
        says_yes = yes is not None and low >= yes and (likely is None or likely >= EVEN)
        says_no = high <= no and (likely is None or likely <= EVEN)
        words.append("yes" if says_yes else "no" if says_no else "unsure")
    return words
