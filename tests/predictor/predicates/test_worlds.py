from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from birthmark.data.lives import tables
from birthmark.data.samples import DAYS
from birthmark.predictor.labels import births
from birthmark.predictor.predicates import BUILT_IN, FILE_PREDICATES, Predicate, from_config
from birthmark.predictor.predicates.worlds import Worlds, worlds_of

FILE_WORLDS, NAME_WORLDS = worlds_of(BUILT_IN)


def never_together(worlds: Worlds, *said: tuple[str, bool]) -> bool:
    rows = zip(*(worlds[key] for key, _ in said), strict=True)
    return tuple(holds for _, holds in said) not in set(rows)


@pytest.mark.parametrize(
    "said",
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
def test_what_contradicts_is_in_no_world(said: list[tuple[str, bool]]) -> None:
    assert never_together(FILE_WORLDS, *said)


@pytest.mark.parametrize(
    "said",
    [
        [("0<size<1M", False), ("size>1M", False), ("size=zero", False)],  # of exactly 1 MB
        [("size=zero", True), ("lock", False)],
        [("lifespan<=1", True), ("size>1M", True)],
        [("amtime>0", False), ("amtime<=0", False)],
        [("write-only", False), ("read-only", False), ("amtime>0", True)],
    ],
)
def test_what_can_be_is_in_a_world(said: list[tuple[str, bool]]) -> None:
    assert not never_together(FILE_WORLDS, *said)


def test_the_worlds_of_names_are_their_own() -> None:
    assert list(NAME_WORLDS) == [key for key in BUILT_IN if key.startswith("name:")]
    assert never_together(NAME_WORLDS, ("name:lock", True), ("name:lifespan<=5", False))


def test_configured_predicates_are_among_them_and_others_are_left_out() -> None:
    huge = from_config({"name": "huge", "size_above": 4 * 1024**3})
    own = Predicate("own", "file", "", "", lambda table, subject: table["death_seen"])
    every = {**FILE_PREDICATES, "huge": huge, "own": own, "HotWrite": BUILT_IN["HotWrite"]}
    (worlds,) = worlds_of(every)
    assert never_together(worlds, ("huge", True), ("size>1M", False))
    assert not never_together(worlds, ("huge", False), ("size>1M", True))
    assert worlds.keys() == {*FILE_PREDICATES, "huge"}


def test_what_files_became_is_always_a_world() -> None:
    files, names = tables(pq.ParquetFile(DAYS[0]).iter_batches())
    for worlds, lives in ((FILE_WORLDS, births(files)), (NAME_WORLDS, births(names))):
        truths = [BUILT_IN[key].evaluate(lives).to_pylist() for key in worlds]
        known = set(zip(*worlds.values(), strict=True))
        for became in set(zip(*truths, strict=True)):
            told = [(place, yes) for place, yes in enumerate(became) if yes is not None]
            assert any(all(world[place] is yes for place, yes in told) for world in known), became
