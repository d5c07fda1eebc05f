"""Three-way answers about a file: yes, no or unsure, with the probability of a yes.

A yes and a no each keep a bound (``predictor.fit.thresholds``), and are likelier than not: where
few files are alike, a bound on all would allow more. Answers about one file do not contradict each
other (``predictor.predicates.assignments``): the surest stay, and an answer that no assignment has
together with them becomes unsure. Implied answers count, too: where all remaining assignments agree
on a predicate, that is its answer, but an abstaining predicate is never a yes. Training keeps the
bounds with implied answers (``predictor.fit.calibration``). An implied answer is no less likely
than the yes that implies it (``native/learn/src/certainty``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.answers.operating_points import (
    EVEN,
    NEVER,
    Levels,
    OperatingPoints,
    Scores,
)
from birthmark.predictor.answers.point import Point
from birthmark.predictor.predicates.assignments import Assignments
from birthmark_native import Certainty

Word = Literal["no", "unsure", "yes"]

WORDS: tuple[Word, ...] = ("no", "unsure", "yes")
"""The three answers, in the order of their numbers in columns."""


@dataclass(frozen=True)
class ThreeWayAnswer:
    """The answers about one predicate, row by row: indices of ``WORDS``, probabilities of a yes.

    A probability is null if the model was not calibrated.
    """

    words: pa.UInt8Array
    probabilities: pa.DoubleArray

    def word(self, row: int) -> Word:
        """Return the answer of a row."""
        number: int = self.words[row].as_py()
        return WORDS[number]

    def probability(self, row: int) -> float | None:
        """Return the probability of a yes in a row."""
        probability: float | None = self.probabilities[row].as_py()
        return probability

    def in_words(self) -> pa.StringArray:
        """Return the answers as text."""
        return pa.array(WORDS).take(self.words)

    def is_word(self, word: Word) -> Any:
        """Return a numpy mask of the rows whose answer is ``word``."""
        return self.words.to_numpy() == WORDS.index(word)


def answer(
    scores: Mapping[str, Scores],
    points: Mapping[str, OperatingPoints],
    assignments: Iterable[Assignments],
    point: Point,
    abstaining: Iterable[str] = (),
) -> dict[str, ThreeWayAnswer]:
    """Return by key the answers for ``scores`` at ``point``; ``abstaining`` are never a yes."""
    selected = {key: points[key] for key in scores}
    certainty = Certainty(describe(selected, assignments, point), list(abstaining))
    levels = [pa.array(levels_at(selected[key], point).of(scores[key])) for key in scores]
    words, probabilities = certainty.answer(levels)
    columns = zip(scores, words, probabilities, strict=True)
    return {key: ThreeWayAnswer(words, likely) for key, words, likely in columns}


def answer_by_scope(
    scores: Mapping[str, Scores],
    points: Callable[[HistoryScope], Mapping[str, OperatingPoints]],
    scope: Mapping[str, Bytes],
    assignments: Iterable[Assignments],
    point: Point,
    abstaining: Iterable[str] = (),
) -> dict[str, ThreeWayAnswer]:
    """Return the same where the history scope differs from row to row.

    ``points`` returns the operating points of a scope. ``scope`` has by key each row's index in
    ``features.history_scope.HISTORY_SCOPES``. Related predicates (``assignments``) have the same
    scope.
    """
    groups: dict[int, list[str]] = {}
    for key in scores:
        groups.setdefault(id(scope[key]), []).append(key)
    assignments, abstaining = list(assignments), list(abstaining)
    answers: dict[str, ThreeWayAnswer] = {}
    for keys in groups.values():
        group = {key: scores[key] for key in keys}
        answers |= _answer_by_scope(group, points, scope[keys[0]], assignments, point, abstaining)
    return {key: answers[key] for key in scores}


def _answer_by_scope(
    scores: Mapping[str, Scores],
    points: Callable[[HistoryScope], Mapping[str, OperatingPoints]],
    scope: Bytes,
    assignments: Iterable[Assignments],
    point: Point,
    abstaining: Iterable[str],
) -> dict[str, ThreeWayAnswer]:
    """Return the same for predicates that share one scope per row."""
    rows = [np.flatnonzero(scope == place) for place in range(len(HISTORY_SCOPES))]
    parts = [
        answer(
            {key: column[selected] for key, column in scores.items()},
            points(name),
            assignments,
            point,
            abstaining,
        )
        for name, selected in zip(HISTORY_SCOPES, rows, strict=True)
    ]
    order = pa.array(np.argsort(np.concatenate(rows)))

    def together(columns: list[pa.Array]) -> pa.Array:
        return pa.concat_arrays(columns).take(order)

    return {
        key: ThreeWayAnswer(
            together([part[key].words for part in parts]),
            together([part[key].probabilities for part in parts]),
        )
        for key in scores
    }


def describe(
    points: Mapping[str, OperatingPoints], assignments: Iterable[Assignments], point: Point
) -> str:
    """Return the description of a ``Certainty``, as JSON."""
    predicates = [
        {
            "key": key,
            "answers": [word for _, _, word in words_of_levels(model, point)],
            "probabilities": levels_at(model, point).probabilities,
            "follows": point in model.follows,
        }
        for key, model in points.items()
    ]
    return json.dumps({"predicates": predicates, "worlds": list(assignments)})


def levels_at(points: OperatingPoints, point: Point) -> Levels:
    """Return the levels of a model; by default, one on each side of the threshold."""
    threshold = points.at(point)
    if len(points.levels.cuts) or threshold is None or not 0 < threshold <= 1:
        return points.levels
    return Levels((threshold,), points.levels.probabilities * 2)


def words_of_levels(points: OperatingPoints, point: Point) -> list[tuple[float, float, Word]]:
    """Return the least score of each level, the least score above it, and its answer."""
    levels, yes = levels_at(points, point), points.at(point)
    no = 0.0 if points.no is None else points.no
    words: list[tuple[float, float, Word]] = []
    ends = zip((0.0, *levels.cuts), (*levels.cuts, NEVER), levels.probabilities, strict=True)
    for low, high, likely in ends:
        says_yes = yes is not None and low >= yes and (likely is None or likely >= EVEN)
        says_no = high <= no and (likely is None or likely <= EVEN)
        words.append((low, high, "yes" if says_yes else "no" if says_no else "unsure"))
    return words
