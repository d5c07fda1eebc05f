from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.serving.limits.byte_budget import ByteBudget, Reservation
from birthmark.serving.messages.errors import ApiError


def room(most: int) -> ByteBudget:
    return ByteBudget(most, lambda what: ApiError("overloaded", what))


def test_room_is_taken_as_bytes_come_and_given_back() -> None:
    here = room(100)
    with here.place() as place:
        assert here.held == 0
        place.grow(60)
        place.grow(40)
        assert here.held == 100
    assert here.held == 0


def test_who_has_been_on_the_way_longest_loses_its_place_to_who_comes() -> None:
    here, lost = room(100), []
    with ExitStack() as stack:
        first, second, third = (
            stack.enter_context(here.place(lose=lambda name=name: lost.append(name)))
            for name in ("first", "second", "third")
        )
        second.grow(50)
        first.grow(50)
        third.grow(30)
        assert (lost, here.held) == (["first"], 80)
        with pytest.raises(ApiError):
            first.grow(1)
        third.grow(70)
        assert (lost, here.held) == (["first", "second"], 100)
        with pytest.raises(ApiError):
            third.grow(1)
    assert here.held == 0


def test_who_may_not_lose_its_place_keeps_it() -> None:
    here = room(100)
    with here.place(80), here.place(lose=lambda: None) as place:
        place.grow(20)
        with pytest.raises(ApiError, match="take all the room"):
            place.grow(1)
        assert here.held == 80
    with here.place(80), pytest.raises(ApiError), here.place(21):
        pytest.fail("there is no room")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60), st.booleans()), max_size=40))
def test_no_more_is_held_than_fits_and_nothing_is_forgotten(
    steps: list[tuple[int, int, bool]],
) -> None:
    here = room(100)
    places: dict[int, Reservation] = {}
    with ExitStack() as stack:
        for which, size, may_lose in steps:
            lose = (lambda: None) if may_lose else None
            if which not in places:
                places[which] = stack.enter_context(here.place(lose=lose))
            try:
                places[which].grow(size)
            except ApiError:
                assert places[which].lost
            assert here.held == sum(place.size for place in places.values()) <= 100
    assert here.held == 0
