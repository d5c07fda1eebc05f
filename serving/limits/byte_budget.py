"""A budget for bytes that wait on clients: bodies on their way in, answers on their way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from birthmark.serving.messages.errors import ApiError


class ByteBudget:
    """A budget of `most` bytes on their way, of which `held` are taken.

    It is taken as bytes come. Where there is none left, who has been on the way longest loses its
    place: who sends, or takes, slowly cannot keep others out. `full` makes the error for who finds
    no room, and is told why.
    """

    def __init__(self, most: int, full: Callable[[str], ApiError]) -> None:
        self.most = most
        self.held = 0
        self._full = full
        self._may_lose: dict[Reservation, None] = {}

    @contextmanager
    def place(self, size: int = 0, lose: Callable[[], None] | None = None) -> Iterator[Reservation]:
        """Yield a place for `size` bytes; raise `ApiError` where there is no room for them.

        `lose` is called when the place is lost to others; without it, it is kept to the end.
        """
        place = Reservation(self, lose)
        if lose is not None:
            self._may_lose[place] = None
        try:
            place.grow(size)
            yield place
        finally:
            self.leave(place)

    def take(self, place: Reservation, size: int) -> None:
        """Take `size` bytes more for a place, if need be from who has been on the way longest."""
        while not place.lost and self.held + size > self.most:
            oldest = next(iter(self._may_lose), place)
            self.leave(oldest)
            oldest.lost = True
            if oldest is not place and oldest.lose is not None:
                oldest.lose()
        if place.lost:
            raise self._full("other bodies and answers on their way take all the room there is")
        self.held += size
        place.size += size

    def leave(self, place: Reservation) -> None:
        """Give back what a place takes."""
        self._may_lose.pop(place, None)
        self.held -= place.size
        place.size = 0


class Reservation:
    """The place of one body, or answer, in a budget: `size` bytes, until it is `lost` or left."""

    def __init__(self, room: ByteBudget, lose: Callable[[], None] | None) -> None:
        self.lose = lose
        self.size = 0
        self.lost = False
        self._room = room

    def grow(self, size: int) -> None:
        """Take room for `size` bytes more; raise `ApiError` where there is none, or it is lost."""
        self._room.take(self, size)
