"""A host with an NFS server, in separate namespaces: nobody else uses its ports and ``lo``."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.waiting import eventually

CONFIG = """
NFS_CORE_PARAM {{ NFS_Protocols = 3, 4; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSV4 {{ Graceless = true; Only_Numeric_Owners = true; RecoveryRoot = /run/ganesha; }}
EXPORT {{
  Export_Id = 1; Path = {export}; Pseudo = /export; Access_Type = RW; SecType = sys;
  Squash = No_Root_Squash; FSAL {{ Name = VFS; }}
}}
"""
BEGIN = "ip link set lo up && mount -t tmpfs tmpfs /run && mkdir /run/ganesha && echo && exec cat"
"""Prepares the host, reports that, and lives until its standard input ends."""


class NfsHost:
    """A host whose nfs-ganesha exports `export`: as that path in version 3, as ``/export`` in 4."""

    def __init__(self, export: Path, init: int, left: ExitStack) -> None:
        self.export, self._left = export, left
        self._enter = ["nsenter", "--target", str(init), "--net", "--mount"]

    def start(self, *command: str | Path, **how: Any) -> subprocess.Popen[bytes]:
        """Start a program there, which ends with the host, by SIGTERM if need be."""
        process = subprocess.Popen([*self._enter, *map(str, command)], **how)
        self._left.enter_context(process)
        self._left.callback(process.terminate)
        return process

    def run(self, *command: str | Path) -> None:
        """Run a program there, which must succeed."""
        assert self.start(*command).wait() == 0


@contextmanager
def nfs_host(folder: Path) -> Iterator[NfsHost]:
    """Yield a host with its files in a folder; skip the test if that is impossible."""
    for name, package in (
        ("rpcbind", ""),
        ("rpcinfo", "rpcbind"),
        ("ganesha.nfsd", "nfs-ganesha"),
        ("ip", "iproute2"),
    ):
        needs.program(name, package)
    if os.geteuid():
        pytest.skip("needs root, for a host in namespaces of its own")
    command = ["unshare", "--net", "--mount", "sh", "-c", BEGIN]
    with ExitStack() as left:
        pipe = subprocess.PIPE
        init = left.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe))
        assert init.stdout is not None
        assert init.stdout.readline(), "namespaces cannot be made"
        host = NfsHost(folder / "export", init.pid, left)
        host.export.mkdir()
        serve(host, folder)
        yield host


def serve(host: NfsHost, folder: Path) -> None:
    """Start the server, and wait until it is ready."""
    config, log = folder / "ganesha.conf", folder / "ganesha.log"
    config.write_text(CONFIG.format(export=host.export))
    log.touch()
    host.start("rpcbind", "-f")
    assert eventually(lambda: not host.start("rpcinfo", "-s", stderr=subprocess.DEVNULL).wait(), 60)
    host.start("ganesha.nfsd", "-F", "-f", config, "-L", log, "-p", "/run/ganesha/pid")
    assert eventually(lambda: "NFS SERVER INITIALIZED" in log.read_text(), 60), log.read_text()
