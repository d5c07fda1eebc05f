"""Act as the callers of a trace: user, group and further groups, as used for file access."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Callable

from birthmark.layout_hint.rewrite.permissions import SUPERUSER, Caller

SETGROUPS = {"x86_64": 116, "aarch64": 159, "riscv64": 159}
"""The number of the system call where it is known: the C library's function is process-wide."""

Identity = tuple[int, int, tuple[int, ...]]
Switch = Callable[[Identity, Identity], None]


class Credentials:
    """Changes and restores this thread's credentials for file access; use it as a context manager.

    Only the superuser can; for others ``become`` does nothing. If the system has no per-thread
    credentials, the process's effective ones are changed. The umask is 0 meanwhile.

    Attributes:
        real: whether callers are acted as.
    """

    def __init__(self) -> None:
        self.real = os.geteuid() == 0
        self._own: Identity = (os.geteuid(), os.getegid(), tuple(os.getgroups()))
        self._now = self._own
        self._switch = _thread_switch() or _switch_process

    def __enter__(self) -> Credentials:
        self._umask = os.umask(0)
        return self

    def __exit__(self, *error: object) -> None:
        os.umask(self._umask)
        self._set(self._own)

    def become(self, caller: Caller) -> None:
        """Act as a caller; an unknown caller is the superuser."""
        if not self.real:
            return
        uid = caller.uid
        self._set((uid, caller.gid or 0, tuple(caller.gids or ())) if uid else (0, 0, ()))

    def restore(self) -> None:
        """Act as the superuser."""
        self.become(SUPERUSER)

    def _set(self, wanted: Identity) -> None:
        if wanted != self._now:
            self._switch(self._now, wanted)
            self._now = wanted


def _switch_process(now: Identity, wanted: Identity) -> None:
    if now[0] != 0:
        os.seteuid(0)
    if wanted[2] != now[2]:
        os.setgroups(wanted[2])
    os.setegid(wanted[1])
    os.seteuid(wanted[0])


def _thread_switch() -> Switch | None:
    """Return a switch of the calling thread's ids alone, by Linux's setfsuid(2); None elsewhere.

    File servers in user space use it, too. It takes a tenth of the time of the C library's seteuid,
    which stops every other thread.
    """
    setgroups = SETGROUPS.get(platform.machine())
    if sys.platform != "linux" or setgroups is None:
        return None
    libc = ctypes.CDLL(None, use_errno=True)

    def switch(now: Identity, wanted: Identity) -> None:
        uid, gid, gids = wanted
        if gids != now[2]:
            numbers = (ctypes.c_uint32 * len(gids))(*gids)
            if libc.syscall(setgroups, len(gids), numbers) != 0:
                number = ctypes.get_errno()
                raise OSError(number, f"setgroups: {os.strerror(number)}")
        libc.setfsgid(ctypes.c_uint32(gid))
        libc.setfsuid(ctypes.c_uint32(uid))

    return switch
