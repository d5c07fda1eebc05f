"""Keeps the live history that a follower on another host sends, where all workers read it.

The worker that is sent a session's first update is the one that writes, for as long as the session
goes on: who is sent the next update must have had all before. The file's lock holds the others off.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import astuple, dataclass, field
from pathlib import Path

import pyarrow as pa

from birthmark.data.follow import updates
from birthmark.data.follow.updates import Update
from birthmark.serving.answers.arrow_messages import refuse_compressed
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.settings import Settings
from birthmark.training.control import thresholds
from birthmark.training.control.thresholds import MovedThresholds
from birthmark_native import SharedHistoryWriter, StateError

LOOK_SECONDS = 1.0
"""How often a worker looks whether its follower has gone silent."""

_NAMES = 3  # of a directory: its handle, its inode and its path

log = logging.getLogger(__name__)


@dataclass
class _Copy:
    """A copy that is kept: by what writes it, of which session, and how far that is.

    ``thresholds`` is the file of those that the follower has moved.
    """

    writer: SharedHistoryWriter
    thresholds: Path
    sender: str
    session: str
    updates: int = 0
    is_whole: bool = False
    heard: float = field(default_factory=time.monotonic)

    def take(self, update: Update) -> None:
        """Take the next update; readers find a copy once it is whole."""
        self.updates, self.heard = self.updates + 1, time.monotonic()
        self.writer.apply(update.changes)
        self.writer.commit(*astuple(update.report))
        if update.whole:
            self.writer.publish()

    def take_thresholds(self, moved: MovedThresholds | None, whole: bool) -> None:
        """Take thresholds, if there are others; of the first update that is whole, none, too."""
        if moved is not None:
            thresholds.write(self.thresholds, moved)
        elif whole and not self.is_whole:
            self.thresholds.unlink(missing_ok=True)
        self.is_whole |= whole


class Receiver:
    """Takes updates, for one worker; its methods may be called by several threads."""

    def __init__(self, settings: Settings) -> None:
        assert settings.history is not None
        self._path: Path = settings.history
        self._room = 2 * settings.history_keys, _NAMES * settings.history_directories
        self._silence = settings.history_age
        self._lock = threading.Lock()
        self._copy: _Copy | None = None

    def take(self, stream: bytes) -> None:
        """Take an update; raise `ApiError` for what is none, or not the next one."""
        update, moved = _read(stream)
        with self._lock:
            copy = self._begun(update) if update.number == 0 else self._next(update)
            try:
                copy.take(update)
                copy.take_thresholds(moved, update.whole)
            except OSError as error:
                self._end()
                raise self._unkept(error) from error
            if update.report.state == "stopped":
                self._end()

    def let_go(self) -> None:
        """Let another worker write, if nothing has come for so long that nothing is told."""
        with self._lock:
            if self._copy is not None and self._is_silent(self._copy):
                log.warning("%s has said nothing for %g s", self._copy.sender, self._silence)
                self._end()

    def _begun(self, update: Update) -> _Copy:
        """Return a new copy, in which there is nothing."""
        before = self._copy
        if before and before.sender != update.sender and not self._is_silent(before):
            what = f"{before.sender} tells already what is seen; {update.sender} may not, too"
            raise ApiError("other_follower", what)
        self._end()
        try:
            writer = SharedHistoryWriter(self._path, *self._room, update.version)
        except StateError as error:
            what = f"another worker, or a follower on this host, writes the history: {error}"
            raise ApiError("history_locked", what) from error
        except (OSError, ValueError) as error:
            raise self._unkept(error) from error
        log.info("%s begins to tell what is seen", update.sender)
        place = thresholds.beside(self._path)
        self._copy = _Copy(writer, place, update.sender, update.session)
        return self._copy

    def _next(self, update: Update) -> _Copy:
        """Return the copy that an update is the next one of."""
        copy = self._copy
        if copy is None or (copy.session, copy.updates) != (update.session, update.number):
            what = "updates are missing here: expected another session, from its update 0 on"
            raise ApiError("history_gap", what)
        return copy

    def _end(self) -> None:
        """Let go of the file's lock, if it is held."""
        if self._copy is not None:
            del self._copy.writer  # whoever still holds the copy, as a traceback does
            self._copy = None

    def _is_silent(self, copy: _Copy) -> bool:
        return time.monotonic() - copy.heard > self._silence

    def _unkept(self, error: Exception) -> ApiError:
        log.error("what a follower sends is not kept: %s", error)
        return ApiError("no_history", f"the history cannot be kept: {error}")


def _read(stream: bytes) -> tuple[Update, MovedThresholds | None]:
    try:
        refuse_compressed(stream)
        update = updates.read(stream)
        told = update.thresholds
        return update, None if told is None else MovedThresholds.model_validate_json(told)
    except updates.OtherFormatError as error:
        raise ApiError("other_format", str(error)) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"expected an update, as birthmark follow --send has it: {error}"
        raise ApiError("invalid_arrow", what) from error
