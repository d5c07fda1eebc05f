"""A budget for the bytes of slow transfers: request bodies coming in, answers going out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from birthmark.serving.messages.errors import ApiError


class ByteBudget:
    """A budget of `most` bytes; `reserved` of them are in use.

    Bytes are reserved as they come. If none are left, the oldest revocable reservation is revoked,
    so that slow clients cannot keep others out. `full` makes the error from the reason.
    """

    def __init__(self, most: int, full: Callable[[str], ApiError]) -> None:
        self.most = most
        self.reserved = 0
        self._full = full
        self._revocable: dict[Reservation, None] = {}

    @contextmanager
    def reserve(
        self, size: int = 0, revoke: Callable[[], None] | None = None
    ) -> Iterator[Reservation]:
        """Yield a reservation of `size` bytes; raise `ApiError` if they do not fit.

        `revoke` is called when the reservation is revoked; without it, it never is.
        """
        reservation = Reservation(self, revoke)
        if revoke is not None:
            self._revocable[reservation] = None
        try:
            reservation.grow(size)
            yield reservation
        finally:
            self.release(reservation)

    def take(self, reservation: Reservation, size: int) -> None:
        """Reserve `size` bytes more; revoke the oldest reservations if need be."""
        while not reservation.revoked and self.reserved + size > self.most:
            oldest = next(iter(self._revocable), reservation)
            self.release(oldest)
            oldest.revoked = True
            if oldest is not reservation and oldest.revoke is not None:
                oldest.revoke()
        if reservation.revoked:
            raise self._full("other bodies and answers in transfer use the whole budget")
        self.reserved += size
        reservation.size += size

    def release(self, reservation: Reservation) -> None:
        """Give back the bytes of a reservation."""
        self._revocable.pop(reservation, None)
        self.reserved -= reservation.size
        reservation.size = 0


class Reservation:
    """The `size` bytes that one body, or answer, has reserved, until released or `revoked`."""

    def __init__(self, budget: ByteBudget, revoke: Callable[[], None] | None) -> None:
        self.revoke = revoke
        self.size = 0
        self.revoked = False
        self._budget = budget

    def grow(self, size: int) -> None:
        """Reserve `size` bytes more; raise `ApiError` if they do not fit, or it was revoked."""
        self._budget.take(self, size)
