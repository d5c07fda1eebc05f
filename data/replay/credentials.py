"""Acting as the callers of a trace: effective user, group and further groups of the process."""

from __future__ import annotations

import os
from types import TracebackType

from data.replay.permissions import SUPERUSER, Caller


class Credentials:
    """Changes the process's effective ids, and restores them; use it as a context manager.

    Only the superuser can; for others ``become`` does nothing. No other thread may need its own
    ids in the meantime.
    """

    def __init__(self) -> None:
        self.real = os.geteuid() == 0
        self._own = (os.geteuid(), os.getegid(), os.getgroups())
        self._now = (self._own[0], self._own[1], tuple(self._own[2]))

    def __enter__(self) -> Credentials:
        self._umask = os.umask(0)
        if self.real:
            self._set(0, 0, ())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.umask(self._umask)
        if self.real:
            self._set(self._own[0], self._own[1], tuple(self._own[2]))

    def become(self, caller: Caller) -> None:
        """Act as a caller; one who is not known is the superuser."""
        if not self.real:
            return
        uid = caller.uid or 0
        wanted = (uid, caller.gid or 0, tuple(caller.gids or ())) if uid else (0, 0, ())
        if wanted != self._now:
            self._set(*wanted)

    def restore(self) -> None:
        """Act as the superuser."""
        self.become(SUPERUSER)

    def _set(self, uid: int, gid: int, gids: tuple[int, ...]) -> None:
        if self._now[0] != 0:
            os.seteuid(0)
        if gids != self._now[2]:
            os.setgroups(gids)
        os.setegid(gid)
        os.seteuid(uid)
        self._now = (uid, gid, gids)
