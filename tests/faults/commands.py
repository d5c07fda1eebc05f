"""The program's commands in forked, rather than started, processes, to make many cheap.

The parent has imported the program and done nothing else. A forked process behaves like any other,
and can be killed like any other.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

CHANGES = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link")
"""The operations on files before which a process may be killed (Python's audit events)."""

Label = Callable[[str, str], str | None]
"""Names an operation by its event and path; None if it does not count."""

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "__main__",
        "birthmark.cli",
        "birthmark.training.nightly.run",
        "birthmark.serving.models.loaded",
        "tests.faults.commands",
    ]
)


def run(log: Path, *arguments: str, before: Callable[[], object] | None = None) -> int:
    """Run ``birthmark`` with `arguments`; return its exit code, or minus a signal's number.

    Its output goes to `log`. `before` is called in its process first.
    """
    process = CONTEXT.Process(target=_command, args=(log, arguments, before))
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _command(log: Path, arguments: Sequence[str], before: Callable[[], object] | None) -> None:
    with log.open("wb") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    sys.argv = ["birthmark", *arguments]
    from birthmark.cli import main

    if before is not None:
        before()
    main()


def _watch(label: Label, seen: Callable[[str], object]) -> None:
    """Call `seen` with each operation's name before its execution, from now on."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in CHANGES or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        if event != "open" or not str(arguments[1]).startswith("r"):  # flushing opens with no mode
            name = label(event, os.fsdecode(arguments[0]))
            if name is not None:
                seen(name)

    sys.addaudithook(hook)


class Recorded:
    """Makes a process record its operations."""

    def __init__(self, label: Label, out: Path) -> None:
        self._label, self._out = label, out

    def __call__(self) -> None:
        """Begin recording, in the process to be recorded."""
        out = self._out.open("w", buffering=1)
        _watch(self._label, lambda name: print(name, file=out))


class KilledBefore:
    """Kills a process (SIGKILL) just before the operation `name`."""

    def __init__(self, label: Label, name: str) -> None:
        self._label, self._name = label, name

    def __call__(self) -> None:
        """Begin watching, in the process to be killed."""

        def seen(name: str) -> None:
            if name == self._name:
                os.kill(os.getpid(), signal.SIGKILL)

        _watch(self._label, seen)
