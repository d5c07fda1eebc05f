"""``birthmark follow``: traffic into datasets, hour by hour, while it happens."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birthmark.data.settings import Following
from birthmark.exits import BUSY, exits, warn
from birthmark.options import Options, with_options
from birthmark.outputs import Json, tell
from birthmark.terminal import line, working

if TYPE_CHECKING:  # help and the other commands do without them, and start sooner
    from birthmark.data.follow.mirror import Heed
    from birthmark.data.follow.run import Follower, Histories
    from birthmark.data.follow.status import Status

EVERY = 1.0
"""How often the status is told, in seconds."""


@with_options
def follow(
    source: Annotated[
        str,
        typer.Argument(help="- for stdin, a pipe, a folder of growing captures, or one such file"),
    ],
    out: Annotated[Path, typer.Argument(help="directory of the datasets")],
    how: Annotated[Following, Options()],
    status: Annotated[
        Path | None, typer.Option(help="JSON file to tell the lag and counts in, every second")
    ] = None,
    registry: Annotated[
        str | None,
        typer.Option(
            help="registry of the model whose history the live one goes on from, and whose"
            " thresholds outcomes move"
        ),
    ] = None,
    end_with: Annotated[int | None, typer.Option(hidden=True, metavar="PROCESS")] = None,
    as_json: Json = False,
) -> None:
    """Follow a server's traffic as it happens, into datasets hour by hour.

    It ends with the pipe, by --until-idle, or by SIGTERM or SIGINT; SIGUSR1 prints how it is.
    """
    from birthmark.data.common.durable import LockedError
    from birthmark.data.common.orphans import end_with as watch
    from birthmark.data.follow.run import Follower

    if end_with is not None:
        watch(end_with, signal.SIGTERM)
    with (
        exits(BUSY, LockedError),
        _control(registry, how, out) as heed,
        Follower(source, out, how, histories=_histories(registry), heed=heed) as follower,
        _signals(follower),
        working("waiting for traffic") as show,
    ):
        shown = -EVERY
        while follower.go_on():
            if time.monotonic() - shown >= EVERY:
                shown = time.monotonic()
                show(_line(follower.status))
                _write(follower.status, status)
    _write(follower.status, status)
    told = follower.status.to_json()
    tell(told if as_json else {name: _words(value) for name, value in told.items()}, as_json)


def _histories(registry: str | None) -> Histories | None:
    """Return the histories, of files and of names, that a registry's published model ended with."""
    if registry is None:
        return None
    from birthmark.predictor import histories
    from birthmark.training.registry.published import NoModelError, read_published
    from birthmark.training.registry.versions import Registry

    try:
        found = histories.load(read_published(Registry(registry)).directory)
    except NoModelError as error:
        warn([f"{error}; the live history begins with nothing"])
        return None
    return found["file"].keeper, found["name"].keeper


@contextmanager
def _control(registry: str | None, how: Following, out: Path) -> Iterator[Heed | None]:
    """Yield what moves the thresholds of what a registry publishes, if they are to be moved."""
    if registry is None or how.history is None or not how.control:
        yield None
        return
    from birthmark.training.control.follower import FollowerControl
    from birthmark.training.registry.versions import Registry

    with FollowerControl(Registry(registry), how.history, out) as control:
        yield control.heed


def _words(value: Any) -> Any:
    """Return several values as one line has them."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return value


def _write(told: Status, path: Path | None) -> None:
    if path is not None:
        try:
            told.write(path)
        except OSError as error:  # a full disk must not end what goes on without it
            warn([f"{path}: {error.strerror}"])


def _line(told: Status) -> str:
    lag = "no traffic yet" if told.lag is None else f"{told.lag:,.1f} s behind"
    return f"{told.operations:,} operations, {told.rate:,.0f} a second, {lag}"


@contextmanager
def _signals(follower: Follower) -> Iterator[None]:
    """Stop, or tell how it is, when a signal says so."""

    def stop(*_: Any) -> None:
        follower.stop()

    def say(*_: Any) -> None:
        line(_line(follower.status), stderr=True)

    handlers = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGUSR1: say}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
