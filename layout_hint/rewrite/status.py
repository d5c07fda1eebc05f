"""NFS statuses: errors that a file system's state can cause, and others.

RFC 1813 section 2.6 took most of their numbers from the ``errno`` of BSD.
"""

from __future__ import annotations

import errno

OK, EPERM, ENOENT, EACCES, EEXIST = 0, 1, 2, 13, 17
ENOTDIR, EISDIR, EINVAL, ENAMETOOLONG, ENOTEMPTY, ESTALE = 20, 21, 22, 63, 66, 70
BADHANDLE = 10001
RPC_REFUSED = 65_536

NAMES = {
    0: "OK",
    1: "EPERM",
    2: "ENOENT",
    5: "EIO",
    6: "ENXIO",
    13: "EACCES",
    17: "EEXIST",
    18: "EXDEV",
    19: "ENODEV",
    20: "ENOTDIR",
    21: "EISDIR",
    22: "EINVAL",
    27: "EFBIG",
    28: "ENOSPC",
    30: "EROFS",
    31: "EMLINK",
    63: "ENAMETOOLONG",
    66: "ENOTEMPTY",
    69: "EDQUOT",
    70: "ESTALE",
    10001: "BADHANDLE",
    10002: "NOT_SYNC",
    10003: "BAD_COOKIE",
    10004: "NOTSUPP",
    10005: "TOOSMALL",
    10006: "SERVERFAULT",
    10007: "BADTYPE",
    10008: "JUKEBOX",
}
"""The names of statuses: those of errno where there is one, else NFS version 3's."""

REPRODUCIBLE = {0, 1, 2, 13, 17, 20, 21, 22, 63, 66, 70, 10001}
"""Statuses that a file system's state causes; the others are the server's own."""

_FROM_ERRNO = {
    getattr(errno, name): status for status, name in NAMES.items() if hasattr(errno, name)
}
_FROM_ERRNO |= {errno.ELOOP: EINVAL, errno.EOPNOTSUPP: EINVAL}

_ALIKE = (
    ({"rmdir"}, {EEXIST, ENOTEMPTY}),
    ({"rename"}, {EEXIST, ENOTEMPTY, EISDIR, ENOTDIR}),
    ({"remove", "rmdir", "rename"}, {EPERM, EACCES}),
    ({"remove"}, {EPERM, EISDIR}),
    ({"read", "write", "commit", "setattr"}, {EISDIR, EINVAL, 10007}),
)


def name_of(status: int) -> str:
    """Return a status's name, or its number where it has none."""
    return NAMES.get(status, str(status))


def of_errno(number: int) -> int:
    """Return the NFS status that a server would return for an ``errno``."""
    return _FROM_ERRNO.get(number, 5)


def same(op: str, expected: int, got: int, gone: bool) -> bool:
    """Return whether two outcomes are the same error.

    Servers name some errors differently. A full directory in the way of rmdir or rename "exists" or
    is "not empty"; for rename the error depends on its kind. Removing a directory as a file is "not
    permitted" or "is a directory". Reading one "is a directory", "invalid" or "bad type". Removing
    another user's file from a sticky directory is "not permitted" or "access". An object that is
    ``gone`` is stale, a bad handle or no such entry.
    """
    if expected == got:
        return True
    if gone and got == ESTALE:
        return expected in (ENOENT, BADHANDLE)
    return any(op in ops and {expected, got} <= alike for ops, alike in _ALIKE)
