from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.serving.limits.byte_budget import ByteBudget, Reservation
from birthmark.serving.messages.errors import ApiError


def budget_of(most: int) -> ByteBudget:
    return ByteBudget(most, lambda what: ApiError("overloaded", what))


def test_bytes_are_reserved_as_they_come_and_released_at_the_end() -> None:
    budget = budget_of(100)
    with budget.reserve() as reservation:
        assert budget.reserved == 0
        reservation.grow(60)
        reservation.grow(40)
        assert budget.reserved == 100
    assert budget.reserved == 0


def test_a_full_budget_revokes_the_oldest_reservation() -> None:
    budget, revoked = budget_of(100), []
    with ExitStack() as stack:
        first, second, third = (
            stack.enter_context(budget.reserve(revoke=lambda name=name: revoked.append(name)))
            for name in ("first", "second", "third")
        )
        second.grow(50)
        first.grow(50)
        third.grow(30)
        assert (revoked, budget.reserved) == (["first"], 80)
        with pytest.raises(ApiError):
            first.grow(1)
        third.grow(70)
        assert (revoked, budget.reserved) == (["first", "second"], 100)
        with pytest.raises(ApiError):
            third.grow(1)
    assert budget.reserved == 0


def test_a_reservation_without_a_callback_is_never_revoked() -> None:
    budget = budget_of(100)
    with budget.reserve(80), budget.reserve(revoke=lambda: None) as reservation:
        reservation.grow(20)
        with pytest.raises(ApiError, match="use the whole budget"):
            reservation.grow(1)
        assert budget.reserved == 80
    with budget.reserve(80), pytest.raises(ApiError), budget.reserve(21):
        pytest.fail("the budget is exceeded")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60), st.booleans()), max_size=40))
def test_reservations_never_exceed_the_budget_and_are_all_released(
    steps: list[tuple[int, int, bool]],
) -> None:
    budget = budget_of(100)
    reservations: dict[int, Reservation] = {}
    with ExitStack() as stack:
        for number, size, revocable in steps:
            revoke = (lambda: None) if revocable else None
            if number not in reservations:
                reservations[number] = stack.enter_context(budget.reserve(revoke=revoke))
            try:
                reservations[number].grow(size)
            except ApiError:
                assert reservations[number].revoked
            assert budget.reserved == sum(each.size for each in reservations.values()) <= 100
    assert budget.reserved == 0
