"""Access of a user to a file, by the permission bits along its path."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

SEARCH, WRITE, READ = 0o1, 0o2, 0o4


def closed(user: str, path: Path, needed: int = READ) -> Path | None:
    """Return the first directory from the root that denies `user` the use of `path`, or None.

    To use it is to have the bits `needed`. A user who does not exist yet will have the group of
    that name. Missing directories deny nothing. Access control lists are ignored.
    """
    real = path.resolve()
    for place in (*reversed(real.parents), real):
        try:
            if not grants(user, place, needed if place == real else SEARCH):
                return place
        except OSError:
            return None
    return None


def grants(user: str, path: Path, needed: int) -> bool:
    """Return whether the bits of `path` itself grant `user` all of `needed`."""
    return _bits(user, path.stat()) & needed == needed


def _bits(user: str, status: os.stat_result) -> int:
    """Return the three permission bits that are `user`'s."""
    uid, groups = _identity(user)
    if uid == 0:
        return 0o7
    if uid == status.st_uid:
        return stat.S_IMODE(status.st_mode) >> 6
    if status.st_gid in groups:
        return stat.S_IMODE(status.st_mode) >> 3
    return stat.S_IMODE(status.st_mode)


def _identity(user: str) -> tuple[int | None, set[int]]:
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        groups = {group.gr_gid for group in grp.getgrall() if group.gr_name == user}
        return None, groups
    return entry.pw_uid, set(os.getgrouplist(user, entry.pw_gid))
