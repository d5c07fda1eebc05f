"""Writes the live history that a follower on another host sends to a file.

The service reads the file as it reads that of a follower beside it, and has it at once after a
restart; so does a helper on this host. The file's lock keeps a follower on this host from writing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from pathlib import Path

import pyarrow as pa

from birthmark.data.follow import updates
from birthmark.data.follow.updates import Update
from birthmark.serving.messages import excerpts
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.models.loaded import LoadedModel
from birthmark.serving.settings import Settings
from birthmark.training.registry import thresholds
from birthmark.training.registry.thresholds import InvalidThresholdsError, MovedThresholds
from birthmark_native import SharedHistoryWriter, StateError, check_uncompressed

LOOK_SECONDS = 1.0
"""The interval at which the service checks whether its follower is silent."""

_NAMES = 3  # of a directory: its handle, its inode and its path

log = logging.getLogger(__name__)


@dataclass
class _Copy:
    """The copy of a session's history, and how many updates it has.

    ``thresholds`` is the file of the follower's adjusted thresholds.
    """

    writer: SharedHistoryWriter
    thresholds: Path
    sender: str
    session: str
    updates: int = 0
    is_whole: bool = False
    heard: float = field(default_factory=time.monotonic)

    def take(self, update: Update) -> None:
        """Apply the next update; readers find the copy once it is complete."""
        self.updates, self.heard = self.updates + 1, time.monotonic()
        self.writer.apply(update.changes)
        self.writer.commit(*astuple(update.report))
        if update.whole:
            self.writer.publish()

    def take_thresholds(self, moved: MovedThresholds | None, whole: bool) -> None:
        """Store thresholds; remove old ones if the first complete update has none."""
        if moved is not None:
            thresholds.write(self.thresholds, moved)
        elif whole and not self.is_whole:
            self.thresholds.unlink(missing_ok=True)
        self.is_whole |= whole


class Receiver:
    """Receives updates; its methods are thread-safe.

    Thresholds for the current ``model`` are checked against it; others are once their model answers
    (``serving.models.threshold_watcher``).
    """

    def __init__(
        self, settings: Settings, model: Callable[[], LoadedModel | None] = lambda: None
    ) -> None:
        assert settings.history is not None
        self._model = model
        self._path: Path = settings.history
        self._capacity = 2 * settings.history_keys, _NAMES * settings.history_directories
        self._silent_seconds = settings.history_age
        self._lock = threading.Lock()
        self._copy: _Copy | None = None

    def take(self, stream: bytes) -> None:
        """Apply an update; raise `ApiError` if it is invalid or not the next one."""
        update = _read(stream)
        moved = _thresholds(update, self._model())
        with self._lock:
            copy = self._new_copy(update) if update.number == 0 else self._next(update)
            try:
                copy.take(update)
                copy.take_thresholds(moved, update.whole)
            except OSError as error:
                self._release()
                raise self._cannot_keep(error) from error
            if update.report.state == "stopped":
                self._release()

    def release_if_silent(self) -> None:
        """Let a follower on this host write, if the follower is silent and the history stale."""
        with self._lock:
            if self._copy is not None and self._is_silent(self._copy):
                sender = self._copy.sender
                log.warning("%s has sent nothing for %g s", sender, self._silent_seconds)
                self._release()

    def _new_copy(self, update: Update) -> _Copy:
        """Return a new, empty copy."""
        before = self._copy
        if before and before.sender != update.sender and not self._is_silent(before):
            what = f"{before.sender} already sends the live history; {update.sender} may not, too"
            raise ApiError("other_follower", what)
        self._release()
        try:
            writer = SharedHistoryWriter(self._path, *self._capacity, update.version)
        except StateError as error:
            what = f"another service, or a follower on this host, writes the history: {error}"
            raise ApiError("history_locked", what) from error
        except (OSError, ValueError) as error:
            raise self._cannot_keep(error) from error
        log.info("%s begins to send the live history", update.sender)
        path = thresholds.beside(self._path)
        self._copy = _Copy(writer, path, update.sender, update.session)
        return self._copy

    def _next(self, update: Update) -> _Copy:
        """Return the copy, if the update is its next one."""
        copy = self._copy
        if copy is None or (copy.session, copy.updates) != (update.session, update.number):
            what = "updates are missing here: expected a new session, from its update 0 on"
            raise ApiError("history_gap", what)
        return copy

    def _release(self) -> None:
        """Release the file's lock, if it is held."""
        if self._copy is not None:
            del self._copy.writer  # a traceback may still refer to the copy
            self._copy = None

    def _is_silent(self, copy: _Copy) -> bool:
        return time.monotonic() - copy.heard > self._silent_seconds

    def _cannot_keep(self, error: Exception) -> ApiError:
        log.error("the live history of a follower cannot be written: %s", error)
        return ApiError("no_history", f"the live history cannot be written: {error}")


def _read(stream: bytes) -> Update:
    try:
        check_uncompressed(stream)
        return updates.read(stream)
    except updates.OtherFormatError as error:
        raise ApiError("other_format", str(error)) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"expected an update of birthmark follow --send: {error}"
        raise ApiError("invalid_arrow", what) from error


def _thresholds(update: Update, model: LoadedModel | None) -> MovedThresholds | None:
    """Return the thresholds of an update, if any; raise `ApiError` for invalid ones."""
    if update.thresholds is None:
        return None
    try:
        moved = thresholds.parse(update.thresholds)
        if model is not None and model.fits(moved):
            model.check(moved)
    except InvalidThresholdsError as error:
        member = ".".join(filter(None, ("thresholds", error.field)))
        value = excerpts.read(excerpts.written(error.found))
        raise ApiError("invalid_request", error.what, field=member, value=value) from error
    return moved
