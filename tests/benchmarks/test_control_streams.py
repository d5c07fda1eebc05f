from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from benchmarks.control_streams import STEP, Stream, changed_at_noon
from benchmarks.days import Day
from birthmark.data.common.durations import SECOND
from birthmark.features.history import shape
from birthmark.predictor.control import UNKNOWN, Controller, ControlSettings
from tests.builders.lives import MONDAY, day_of_lives, files_of, names_of

ROW = ("lock", "directory")


def stream(n: int = 4000, delay: int = SECOND) -> Stream:
    """Return births ten to a step, where the calibrated threshold is wrong for a tenth."""
    random = np.random.default_rng(1)
    born = np.arange(n, dtype=np.int64) * STEP // 10
    scores = random.random(n)
    truths = random.random(n) < np.where(scores > 0.9, 0.9, scores / 2)
    return Stream(ROW, born, scores, truths, born + delay, truths, 0.7)


def served(played: Stream) -> np.ndarray:
    return played.controlled(Controller(played.static, ControlSettings()))


def test_an_outcome_moves_no_answer_before_it_is_known() -> None:
    for delay in (SECOND, 20 * SECOND):
        own = stream(delay=delay)
        other = replace(own, counted=~own.counted)
        first = int(np.flatnonzero(served(own) != served(other))[0])
        assert delay <= own.born[first] < delay + 20 * SECOND


def test_unknown_outcomes_are_pending_and_end_the_yes() -> None:
    own = stream()
    answers = served(replace(own, known_at=own.known_at * 0 + UNKNOWN))
    assert answers[:10].any()
    assert not answers[20:].any()


def test_the_best_threshold_in_hindsight_is_the_lowest_that_keeps_the_bound() -> None:
    own = stream(500)
    best = own.best(0.05)
    remaining = [each for each in own.scores if (own.answers(each) & ~own.truths).mean() <= 0.05]
    assert best == min(remaining)
    assert own.best(0.0) is None or not (own.answers(own.best(0.0)) & ~own.truths).any()


def test_at_noon_names_change_and_what_becomes_of_files_does_not() -> None:
    rows = day_of_lives(MONDAY, 40)
    day = Day("monday", files_of(*rows), names_of(*rows))
    changed, noon = changed_at_noon(day, seed=1)
    order = [("born", "ascending")]
    before, after = day.files.sort_by(order), changed.files.sort_by(order)
    for name in ("born", "died", "max_size", "writes", "uid", "fh"):
        assert before[name].to_pylist() == after[name].to_pylist()
    later = before["born"].cast(pa.int64()).to_numpy() >= noon
    own, other = (np.array(shape(lives["name"]).to_pylist()) for lives in (before, after))
    assert (own[~later] == other[~later]).all()
    assert (own[later] != other[later]).all()
    assert {*other[later]} == {*own[later]}
    assert all(len({*other[later & (own == program)]}) == 1 for program in {*own[later]})
