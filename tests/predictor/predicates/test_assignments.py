from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from birthmark.data.lives import tables
from birthmark.data.samples import DAYS
from birthmark.predictor.labels import births
from birthmark.predictor.predicates import BUILT_IN, FILE_PREDICATES, Predicate, from_config
from birthmark.predictor.predicates.assignments import Assignments, assignments_of, premises

FILE_ASSIGNMENTS, NAME_ASSIGNMENTS = assignments_of(BUILT_IN)


def never_together(assignments: Assignments, *answers: tuple[str, bool]) -> bool:
    rows = zip(*(assignments[key] for key, _ in answers), strict=True)
    return tuple(holds for _, holds in answers) not in set(rows)


@pytest.mark.parametrize(
    "answers",
    [
        [("size=zero", True), ("0<size<1M", True)],
        [("size>64k", True), ("size>16k", False)],
        [("0<size<=16k", True), ("size>16k", True)],
        [("size=zero", False), ("0<size<=16k", False), ("size>16k", False)],
        [("lifespan<=1", True), ("lifespan<=30", False)],
        [("lifespan<=1", True), ("1<lifespan<=30", True)],
        [("lifespan>5", True), ("lock", True)],
        [("amtime>0", True), ("amtime<=0", True)],
        [("write-only", True), ("read-only", True)],
        [("lock", True), ("write-only", True)],
        [("size=zero", True), ("HotName", False)],
        [("HotName", True), ("size=zero", False), ("lifespan>5", True)],
    ],
)
def test_contradictions_are_in_no_assignment(answers: list[tuple[str, bool]]) -> None:
    assert never_together(FILE_ASSIGNMENTS, *answers)


@pytest.mark.parametrize(
    "answers",
    [
        [("0<size<1M", False), ("size>1M", False), ("size=zero", False)],  # of exactly 1 MB
        [("size=zero", True), ("lock", False)],
        [("lifespan<=1", True), ("size>1M", True)],
        [("amtime>0", False), ("amtime<=0", False)],
        [("write-only", False), ("read-only", False), ("amtime>0", True)],
    ],
)
def test_possible_answers_are_in_an_assignment(answers: list[tuple[str, bool]]) -> None:
    assert not never_together(FILE_ASSIGNMENTS, *answers)


def test_a_yes_follows_from_one_answer_or_from_all() -> None:
    answers = {"lifespan<=1": "yes", "size=zero": "no", "size>16k": "no", "lock": "unsure"}
    assignments = [FILE_ASSIGNMENTS]
    assert premises(assignments, answers, "lifespan<=5") == ["lifespan<=1"]
    assert premises(assignments, answers, "0<size<=16k") == ["size=zero", "size>16k", "lifespan<=1"]
    assert premises(assignments, answers, "name:lock") == []


def test_names_have_separate_assignments() -> None:
    assert list(NAME_ASSIGNMENTS) == [key for key in BUILT_IN if key.startswith("name:")]
    assert never_together(NAME_ASSIGNMENTS, ("name:lock", True), ("name:lifespan<=5", False))


def test_configured_predicates_are_among_them_and_others_are_left_out() -> None:
    huge = from_config({"name": "huge", "size_above": 4 * 1024**3})
    own = Predicate("own", "file", "", "", lambda table, subject: table["death_seen"])
    every = {**FILE_PREDICATES, "huge": huge, "own": own, "HotWrite": BUILT_IN["HotWrite"]}
    (assignments,) = assignments_of(every)
    assert never_together(assignments, ("huge", True), ("size>1M", False))
    assert not never_together(assignments, ("huge", False), ("size>1M", True))
    assert assignments.keys() == {*FILE_PREDICATES, "huge"}


def test_outcomes_of_files_are_always_an_assignment() -> None:
    files, names = tables(pq.ParquetFile(DAYS[0]).iter_batches())
    for assignments, lives in (
        (FILE_ASSIGNMENTS, births(files)),
        (NAME_ASSIGNMENTS, births(names)),
    ):
        truths = [BUILT_IN[key].evaluate(lives).to_pylist() for key in assignments]
        known = set(zip(*assignments.values(), strict=True))
        for became in set(zip(*truths, strict=True)):
            decided = [(place, yes) for place, yes in enumerate(became) if yes is not None]
            assert any(
                all(assignment[place] is yes for place, yes in decided) for assignment in known
            ), became
