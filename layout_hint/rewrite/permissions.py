"""Check mode bits for a caller as a file server does (RFC 1813 section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

READ, WRITE, SEARCH = 4, 2, 1
STICKY = 0o1000
NOBODY = 65_534


class Caller(NamedTuple):
    """A caller: user, group and further groups; a user of None is unknown."""

    uid: int | None
    gid: int | None
    gids: Sequence[int] | None

    def in_group(self, group: int | None) -> bool:
        """Return whether the caller belongs to a group."""
        return group is not None and (group == self.gid or group in (self.gids or ()))


SUPERUSER = Caller(0, 0, ())


def permits(
    mode: int | None, owner: int | None, group: int | None, caller: Caller, wanted: int
) -> bool:
    """Return whether mode bits permit ``wanted`` (bits READ, WRITE, SEARCH).

    Unknown modes permit everything, and so does being the superuser.
    """
    if mode is None or not caller.uid:
        return True
    if owner == caller.uid:
        shift = 6
    elif caller.in_group(group):
        shift = 3
    else:
        shift = 0
    return mode >> shift & wanted == wanted
