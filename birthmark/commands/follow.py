"""``birthmark follow``: live traffic into hourly datasets."""

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
from birthmark.options import Options, config_of, with_options
from birthmark.outputs import Json, print_result
from birthmark.terminal import line, working

if TYPE_CHECKING:  # help and the other commands do without them, and start sooner
    from birthmark.data.follow.mirror import Heed
    from birthmark.data.follow.run import Follower, Histories
    from birthmark.data.follow.status import Status

EVERY = 1.0
"""Interval between reports of the status, in seconds."""


@with_options
def follow(
    source: Annotated[
        str,
        typer.Argument(help="-, a pipe, a growing capture, or a folder of such captures"),
    ],
    datasets: Annotated[Path, typer.Argument(metavar="out", help="directory of the datasets")],
    how: Annotated[Following, Options()],
    status: Annotated[
        Path | None, typer.Option(help="JSON file for the lag and counts, updated every second")
    ] = None,
    registry: Annotated[
        str | None,
        typer.Option(help="registry of the model to take history from, and to control"),
    ] = None,
    config: Annotated[Path | None, config_of("follow")] = None,
    end_with: Annotated[int | None, typer.Option(hidden=True, metavar="PROCESS")] = None,
    as_json: Json = False,
) -> None:
    """Follow live traffic, and write a dataset each hour.

    It ends with the pipe, by --until-idle, SIGTERM or SIGINT; SIGUSR1 prints the status.
    """
    from birthmark.data.common.durable import LockedError
    from birthmark.data.common.orphans import end_with as watch
    from birthmark.data.common.targets import regular
    from birthmark.data.follow.run import Follower

    if status is not None:
        regular(status)  # refuses a file that cannot be replaced before work begins
    if end_with is not None:
        watch(end_with, signal.SIGTERM)
    with (
        exits(BUSY, LockedError),
        _control(registry, how, datasets) as heed,
        Follower(source, datasets, how, histories=_histories(registry), heed=heed) as follower,
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
    status_json = follower.status.to_json()
    warn([status_json["unread"]] if status_json["unread"] else [])
    values = {name: _words(value) for name, value in status_json.items()}
    print_result(status_json if as_json else values, as_json)


def _histories(registry: str | None) -> Histories | None:
    """Return the final histories of files and names of a registry's published model."""
    if registry is None:
        return None
    from birthmark.predictor import parts
    from birthmark.training.registry.published import NoModelError, read_published
    from birthmark.training.registry.versions import Registry

    try:
        directory = read_published(Registry(registry)).directory
        found = parts.read_histories(parts.parts_of(directory))
    except NoModelError as error:
        warn([f"{error}; the live history begins empty"])
        return None
    return found["file"].keeper, found["name"].keeper


@contextmanager
def _control(registry: str | None, how: Following, out: Path) -> Iterator[Heed | None]:
    """Yield the control of the published thresholds; None if it is off."""
    if registry is None or how.history is None or not how.control:
        yield None
        return
    from birthmark.training.control.follower import FollowerControl
    from birthmark.training.registry.versions import Registry

    with FollowerControl(Registry(registry), how.history, out, how.refresh) as control:
        yield control.heed


def _words(value: Any) -> Any:
    """Return several values on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return value


def _write(status: Status, path: Path | None) -> None:
    if path is not None:
        try:
            status.write(path)
        except OSError as error:  # a full disk must not end the follower
            warn([f"{path}: {error.strerror}"])


def _line(status: Status) -> str:
    lag = "no traffic yet" if status.lag is None else f"{status.lag:,.1f} s behind"
    unread = f"{status.unread.partition('; ')[0]}; " if status.unread else ""
    return f"{unread}{status.operations:,} operations, {status.rate:,.0f} a second, {lag}"


@contextmanager
def _signals(follower: Follower) -> Iterator[None]:
    """Stop on SIGTERM and SIGINT; print the status on SIGUSR1."""

    def stop(*_: Any) -> None:
        follower.stop()

    def print_status(*_: Any) -> None:
        line(_line(follower.status), stderr=True)

    handlers = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGUSR1: print_status}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
