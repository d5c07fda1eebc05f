from __future__ import annotations

from dataclasses import dataclass

from birthmark.serving.limits.limits import Handshakes


@dataclass(eq=False)
class Pending:
    """A pending handshake."""

    all_pending: Handshakes
    address: int
    closed: bool = False

    def close(self) -> None:
        self.closed = True
        self.all_pending.discard(self)


def begun(pending: Handshakes, address: int) -> Pending:
    handshake = Pending(pending, address)
    pending.add(handshake)
    return handshake


def test_an_address_has_a_limit_and_closes_none_of_another() -> None:
    pending = Handshakes(2)
    other = begun(pending, 1)
    many = [begun(pending, 2) for _ in range(5)]
    assert [handshake.closed for handshake in many] == [True, True, True, False, False]
    assert (len(pending), other.closed) == (3, False)
    pending.discard(many[0])
    pending.discard(None)
    assert len(pending) == 3


def test_the_address_with_most_loses_its_oldest() -> None:
    pending = Handshakes(5)
    first = begun(pending, 1)
    many = [begun(pending, 2) for _ in range(3)]
    assert pending.close_oldest()
    assert [handshake.closed for handshake in (first, *many)] == [False, True, False, False]
    while pending.close_oldest():
        assert len(pending) < 4
    assert all(handshake.closed for handshake in (first, *many))
