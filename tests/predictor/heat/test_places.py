from __future__ import annotations

import math

import pyarrow as pa
import pytest

from birthmark.predictor.heat.places import PLACES, Places
from birthmark.predictor.parts import DamagedModelError

LEVELS = [["suffix"], ["uid"], ["name"], ["uid", "name"]]


def things(*rows: tuple[int | None, bytes | None, float, float]) -> pa.Table:
    """Return things by owner, name, worth and room; the size of each is its room."""
    each = [{"uid": u, "name": n, "worth": w, "size": r, "room": r} for u, n, w, r in rows]
    return pa.Table.from_pylist([{**row, "things": 1.0} for row in each], schema=PLACES)


def score(places: Places, uid: int | None, name: bytes | None) -> float:
    suffix = name.rpartition(b".")[2] if name and b"." in name else None
    (found,) = places.scores(
        pa.array([uid], pa.uint32()), pa.array([suffix], pa.binary()), pa.array([name], pa.binary())
    )
    return float(found)


def test_things_of_an_owner_and_a_name_are_one_row_of_sums() -> None:
    places = Places("x.arrow", LEVELS).fit(
        things((1, b"a", 3, 1), (1, b"a", 5, 2), (2, b"a", 0, 1))
    )
    assert places.learned_.to_pylist() == [
        {"uid": 1, "name": b"a", "things": 2, "worth": 8, "size": 3, "room": 3},
        {"uid": 2, "name": b"a", "things": 1, "worth": 0, "size": 1, "room": 1},
    ]


def test_a_score_is_drawn_from_all_that_is_known_of_a_thing() -> None:
    hot, cold = [(1, b"a.log", 100, 1)] * 9, [(2, b"b.txt", 0, 1)] * 9
    places = Places("x.arrow", LEVELS).fit(things(*hot, *cold))
    assert score(places, 3, b"x") == score(places, None, None) == 0
    for uid, name in ((1, b"a.log"), (1, b"x"), (3, b"new.log"), (None, b"a.log")):
        assert score(places, uid, name) == pytest.approx(100)
    assert 0 < score(places, 2, b"new.log") < score(places, 1, b"new.txt") < 100


def test_the_highest_scores_are_taken_until_the_room_is_full() -> None:
    rows = [(uid, b"mbox", 100.0 * uid, 10.0) for uid in range(1, 11)]
    places = Places("x.arrow", [["uid", "name"]]).fit(things(*rows))

    def selected(room: float, least: float = 0.0) -> list[int]:
        bar = places.bar(room, least)
        return [uid for uid in range(1, 11) if score(places, uid, b"mbox") >= bar]

    assert selected(35) == [8, 9, 10]
    assert selected(30) == [8, 9, 10]
    assert selected(1000) == list(range(1, 11))
    assert selected(1000, least=65) == [7, 8, 9, 10]
    assert selected(9) == [10]
    assert selected(1000, least=101) == []


def test_a_room_that_is_filled_has_a_part_of_the_last_thing() -> None:
    rows = [(uid, b"mbox", 100.0 * uid, 10.0) for uid in range(1, 11)]
    places = Places("x.arrow", [["uid", "name"]]).fit(things(*rows))

    def selected(room: float, least: float = 0.0) -> list[int]:
        bar = places.bar(room, least, partly=True)
        return [uid for uid in range(1, 11) if score(places, uid, b"mbox") >= bar]

    assert selected(35) == [7, 8, 9, 10]
    assert selected(30) == [8, 9, 10]
    assert selected(1000, least=65) == [7, 8, 9, 10]
    assert selected(9) == [10]


def test_of_things_that_are_alike_all_find_room_or_none_unless_they_are_the_best() -> None:
    alike = [(uid, b"a", 5.0, 1.0) for uid in range(10)]
    places = Places("x.arrow", [["name"]]).fit(things(*alike, (1, b"b", 90, 9)))
    assert places.bar(18) == places.bar(1) == pytest.approx(10)
    assert places.bar(19) == pytest.approx(5)


def test_worthless_things_are_not_selected() -> None:
    places = Places("x.arrow", [["name"]]).fit(things((1, b"a", 0, 1)))
    assert places.bar(100) == math.inf
    assert Places("x.arrow", [["name"]]).bar(100) == math.inf


def test_saved_places_load_unchanged(tmp_path) -> None:
    places = Places("x.arrow", LEVELS).fit(things((1, b"a", 3, 1), (None, b"b", 5, 2)))
    assert places.save(tmp_path) == ["x.arrow"]
    assert Places("x.arrow", LEVELS).load(tmp_path).learned_.equals(places.learned_)
    (tmp_path / "x.arrow").write_bytes(b"no table")
    with pytest.raises(DamagedModelError, match=r"x\.arrow"):
        Places("x.arrow", LEVELS).load(tmp_path)
