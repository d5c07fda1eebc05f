from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from birthmark.data.common.durations import SECOND
from birthmark.predictor import BUILT_IN, Predicate, births
from birthmark.predictor.control import UNKNOWN, Outcomes, horizon, outcomes
from birthmark.predictor.predicates import from_config
from tests.builders.lives import MONDAY, files_of, life, names_of

START = int(MONDAY.timestamp()) * SECOND


def used(early: dict[str, int], **late: int) -> dict[str, Any]:
    """Return the columns of a file that was used so by its first 5 s, and so in the end."""
    known = {"size": "max_size", "writes": "writes", "reads": "reads"}
    columns: dict[str, Any] = {f"early_{name}": value for name, value in early.items()}
    return columns | {known[name]: value for name, value in (early | late).items()}


def counted(key: str, *rows: dict[str, Any]) -> tuple[list[float | None], list[bool]]:
    """Return when the outcomes of a day's lives are counted, seconds since it began, and them."""
    predicate = BUILT_IN[key]
    lives = (files_of if predicate.subject == "file" else names_of)(*rows)
    return in_seconds(outcomes(births(lives), {key: predicate})[key])


def in_seconds(found: Outcomes) -> tuple[list[float | None], list[bool]]:
    times = found.known_at.tolist()
    known = [None if at == UNKNOWN else (at - START) / SECOND for at in times]
    return known, found.truths.tolist()


EMPTY = used({"size": 0, "writes": 0, "reads": 0})
SMALL = used({"size": 900, "writes": 1, "reads": 0})


@pytest.mark.parametrize(
    ("key", "seconds"),
    [
        ("lifespan<=1", 1),
        ("lifespan>5", 5),
        ("1<lifespan<=30", 30),
        ("name:lifespan<=30", 30),
        ("lock", 5),
        ("name:lock", 5),
        ("name:size=zero", 5),
        ("size>16k", 5),
        ("HotName", 5),
        ("amtime<=0", 30),
        ("amtime>0", 30),
        ("write-only", 30),
        ("read-only", 30),
        ("HotWrite", 30),
    ],
)
def test_built_in_predicates_are_counted_at_an_age(key: str, seconds: int) -> None:
    assert horizon(BUILT_IN[key]) == seconds * SECOND


@pytest.mark.parametrize("asked", [{"expression": "lifespan <= 5"}, {"function": "nowhere:f"}])
def test_an_expression_or_a_function_has_none_so_a_follower_needs_no_code_of_users(
    asked: dict[str, str],
) -> None:
    assert horizon(from_config({"name": "own", **asked})) is None


def own(**bounds: Any) -> Predicate:
    return from_config({"name": "own", **bounds})


def test_a_predicate_of_ones_own_is_counted_at_the_first_look_that_decides() -> None:
    assert horizon(own(lifespan_above=2, lifespan_at_most=20)) == 30 * SECOND
    assert horizon(own(size_above=10, lifespan_at_most=1)) == 5 * SECOND
    assert horizon(own(lifespan_at_most=600)) is None


def test_deaths_are_counted_at_the_horizon_too() -> None:
    rows = [life(b"a", 10, 2, **EMPTY), life(b"b", 10, 70, **EMPTY), life(b"c", 10, **EMPTY)]
    assert counted("lifespan<=30", *rows) == ([40, 40, 40], [True, False, False])
    assert counted("lifespan<=1", *rows) == ([11, 11, 11], [False, False, False])


def test_a_life_that_was_watched_too_shortly_is_never_counted() -> None:
    short = life(b"a", 10, end=30, **EMPTY)
    assert counted("lifespan<=30", short)[0] == [None]
    assert counted("lifespan<=5", short) == ([15], [False])


def test_a_size_is_counted_as_it_was_then() -> None:
    late = used({"size": 900, "writes": 1, "reads": 0}, size=20_000, reads=9)
    rows = [life(b"a", 10, 600, **late), life(b"b", 10, end=900, **SMALL)]
    assert counted("size>16k", *rows) == ([15, 15], [False, False])


def test_use_is_counted_at_an_age_as_it_was_then_or_at_the_death() -> None:
    read = used({"size": 900, "writes": 1, "reads": 0}, reads=9)
    rows = [life(b"a", 10, 600, **read), life(b"b", 10, 3, **read), life(b"c", 10, 600, **SMALL)]
    lives = births(files_of(*rows))
    predicates = {"write-only": BUILT_IN["write-only"]}
    for reads, truth in ((0, True), (4, False)):
        then = lives.append_column("used_reads", pa.array([reads, None, 0], pa.uint64()))
        found = in_seconds(outcomes(then, predicates)["write-only"])
        assert found == ([40, 40, 40], [truth, False, True])


def test_a_file_that_is_not_hot_at_the_age_is_counted_though_it_may_become_so() -> None:
    hot = used({"size": 900, "writes": 9, "reads": 0})
    rows = [life(b"a", 10, end=60, **SMALL), life(b"b", 10, end=60, **hot)]
    assert BUILT_IN["HotWrite"].evaluate(files_of(*rows)).to_pylist() == [None, True]
    assert counted("HotWrite", *rows) == ([40, 40], [False, True])


def test_an_early_death_counts_with_the_size_at_death() -> None:
    grown = used({"size": 20_000, "writes": 3, "reads": 0})
    assert counted("size>16k", life(b"a", 10, 3, **grown)) == ([15], [True])


def test_the_last_size_of_a_names_file_stands_for_the_one_that_it_had() -> None:
    rows = [life(b"a", 10, 70, max_size=0), life(b"b", 10, end=900, max_size=7)]
    assert counted("name:size=zero", *rows) == ([15, 15], [True, False])
    assert counted("name:lock", *rows) == ([15, 15], [False, False])


def test_outcomes_at_the_end_are_the_predicates_answers() -> None:
    lives = births(files_of(*(life(b"x%d" % n, n, 3.0 * n + 1, **SMALL) for n in range(20))))
    predicates = {key: each for key, each in BUILT_IN.items() if each.subject == "file"}
    for key, found in outcomes(lives, predicates).items():
        answers = predicates[key].evaluate(lives)
        known = answers.is_valid().to_numpy(zero_copy_only=False)
        if key == "HotWrite":
            known[:] = True
        assert (known == (found.known_at != UNKNOWN)).all()
        assert answers.drop_null().to_pylist() == found.truths[known].tolist()
