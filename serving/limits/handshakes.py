"""Pending TLS handshakes, by client address."""

from __future__ import annotations

from typing import Protocol


class Handshake(Protocol):
    """An accepted connection that is not open yet."""

    address: int

    def close(self) -> None:
        """Close the connection."""


class Handshakes:
    """The pending handshakes, at most ``most`` for each address.

    Another handshake from an address closes its oldest.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_address: dict[int, dict[Handshake, None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, handshake: Handshake) -> None:
        """Add a handshake."""
        if len(self._by_address.get(handshake.address, ())) >= self._most:
            self._oldest(handshake.address).close()
        self._by_address.setdefault(handshake.address, {})[handshake] = None
        self._count += 1

    def discard(self, handshake: Handshake | None) -> None:
        """Remove a handshake, if it is pending."""
        if handshake is None or handshake not in self._by_address.get(handshake.address, ()):
            return
        pending = self._by_address[handshake.address]
        del pending[handshake]
        self._count -= 1
        if not pending:
            del self._by_address[handshake.address]

    def close_oldest(self) -> bool:
        """Close the oldest handshake of the address with most; return whether there was any."""
        if not self._by_address:
            return False
        self._oldest(max(self._by_address, key=lambda each: len(self._by_address[each]))).close()
        return True

    def _oldest(self, address: int) -> Handshake:
        return next(iter(self._by_address[address]))
