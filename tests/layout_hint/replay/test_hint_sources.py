"""Hints of an oracle, which fill a region with what is written most for the room that it takes."""

from __future__ import annotations

import pyarrow as pa

from birthmark.layout_hint.replay.hint_sources import at_random, inverted, oracle
from birthmark.layout_hint.replay.region import Region

Object = tuple[int | None, int, int, int | None, int | None]


def hot(region: Region, *objects: Object) -> list[int]:
    """Return the places called hot, of objects: place, writes, fragments, born, died."""
    names = ("id", "place", "writes", "fragments", "born", "died")
    columns = [range(len(objects)), *zip(*objects, strict=True)]
    table = pa.table({n: pa.array(c, pa.int64()) for n, c in zip(names, columns, strict=True)})
    lives = table.select(["id", "born", "died"]).take(pa.array(range(len(objects))[::-1]))
    given = oracle(table.drop(["born", "died"]), lives, 10, region).to_pylist()
    assert set(given) <= {0, 7}
    return [place for place, verdict in enumerate(given) if verdict]


def test_the_oracle_takes_those_written_most_for_their_room() -> None:
    objects: list[Object] = [(0, 90, 9, None, None), (1, 60, 2, None, None), (2, 50, 1, 5, None)]
    assert hot(Region(10, 3), *objects) == [1, 2]
    assert hot(Region(10, 11), *objects) == [1, 2]
    assert hot(Region(10, 12), *objects) == [0, 1, 2]


def test_removed_objects_leave_their_room_to_others() -> None:
    objects: list[Object] = [(0, 9, 2, 1, 4), (1, 9, 2, 4, 6), (2, 9, 2, 6, None)]
    assert hot(Region(1, 2), *objects) == [0, 1, 2]
    objects[1] = (1, 9, 2, 3, 6)
    assert hot(Region(2, 2), *objects) == [0]
    assert hot(Region(1, 4), *objects) == [0]


def test_empty_objects_get_the_inodes_that_are_left() -> None:
    objects: list[Object] = [(0, 0, 0, 1, None), (3, 0, 0, 2, None), (7, 99, 1, 3, None)]
    assert hot(Region(3, 1), *objects) == [0, 3, 7]
    assert hot(Region(2, 1), *objects) == [0, 7]
    assert hot(Region(1, 1), *objects) == [7]
    assert hot(Region(3, 0), *objects) == [0, 3]


def test_objects_that_no_create_makes_are_left_out() -> None:
    assert hot(Region(9, 9), (None, 9, 1, None, None), (4, 1, 1, None, None)) == [4]


def test_random_hints_are_those_of_their_seed() -> None:
    assert at_random(1000, 1).equals(at_random(1000, 1))
    assert not at_random(1000, 1).equals(at_random(1000, 2))
    assert 400 < sum(at_random(1000, 1).to_pylist()) / 7 < 600


def test_inverted_hints_call_hot_what_is_cold_in_every_respect() -> None:
    assert inverted(pa.array([0, 1, 4, 7, 0], pa.uint8())).to_pylist() == [7, 0, 0, 0, 7]
