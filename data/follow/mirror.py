"""The live history of a follower, as the service and the helper read it (``native/live``).

A service on another host reads a copy (`data.follow.sending`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import astuple, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.follow.status import Sent
from birthmark.data.follow.updates import Report
from birthmark.data.schema import LOOKED_UP, filled
from birthmark.data.settings import Following
from birthmark_native import HistoryChanges, LiveHistory, SharedHistory, SharedHistoryWriter

if TYPE_CHECKING:
    from birthmark.data.follow.sending import Sender

RECENT = 300_000_000
"""A loss counts for this time after it becomes known, in microseconds of the trace's time."""

EARLIER = 120_000_000
"""A clock that goes back by more than this, in microseconds, counts as set back."""

NAMES = 3
"""The names of a directory: its handle, its inode and its path."""

SLACK = 1_000_000
"""Everything older than now by this, in microseconds, has arrived if a source is idle."""


_ASKED = pa.schema(LOOKED_UP)
_WHATEVER = 1e12


@dataclass(frozen=True)
class Seen:
    """Births and outcomes that became known between two updates.

    ``clock`` is the end of that time, in microseconds since the epoch. ``births`` and ``outcomes``
    come from the live history (``take_births``, ``take_outcomes``). ``history`` is replaced by the
    history that readers could see when the call passed, null if there was none.
    """

    births: pa.RecordBatch
    outcomes: pa.RecordBatch
    clock: int


Heed = Callable[[Seen], None]


class Mirror:
    """Mirrors a live history into a file that others read.

    ``history`` is the one mirrored. The file is readable from the first ``update`` on. Before each
    update, ``heed`` is called with all that became known since the last. If the settings name a
    service, changes are also sent to it in the background; `sent` counts them.
    """

    def __init__(
        self, path: Path, history: LiveHistory, settings: Following, heed: Heed | None = None
    ) -> None:
        self.history = history
        self._heed = heed
        self._reader = SharedHistory(path, _WHATEVER, _WHATEVER, 1.0)
        keys, names = 2 * settings.history_keys, NAMES * settings.history_directories
        self._writer = SharedHistoryWriter(path, keys, names, version("birthmark"))
        self._sender = _sender(settings)
        self._losses: deque[tuple[int, float, float]] = deque()
        self._clock = self._operations = 0
        self._heard = time.monotonic()

    @property
    def sent(self) -> Sent | None:
        """Statistics of sending; None if no service is configured."""
        return self._sender.sent if self._sender else None

    def lost(self, batch: pa.RecordBatch) -> None:
        """Take rows of the loss table, which arrive long after their period."""
        seen = sum(pc.sum(batch[column]).as_py() for column in ("calls", "replies", "orphans"))
        self._losses.append((self._clock, seen, pc.sum(batch["lost"]).as_py()))

    def heard(self, clock: int, operations: int) -> None:
        """Record ``operations`` more operations, and that the trace is known up to ``clock``.

        ``clock`` is in microseconds since the epoch.
        """
        self._operations += operations
        was_set_back = clock < self._clock - EARLIER
        self._clock = clock if was_set_back else max(clock, self._clock)
        self._heard = time.monotonic()
        self.history.advance(self._clock)

    def idle(self) -> None:
        """Note that the source is idle, so everything due by now is known."""
        if self._clock:
            passed = round((time.monotonic() - self._heard) * 1e6)
            self.history.advance(self._clock + max(1, passed - SLACK))

    def update(self, lag: float, state: str) -> None:
        """Publish all that is known by now; ``lag`` is in seconds (`Status`)."""
        if self._heed is not None:
            births, outcomes = self.history.take_births(), self.history.take_outcomes()
            self._heed(Seen(self._as_seen(births), outcomes, self._clock))
        changes = HistoryChanges() if self._sender else None
        self._writer.mirror(self.history, changes)
        self.history.discard()
        lost = self._share_lost()
        report = Report(self._clock, max(lag, 0.0), lost, state, self._operations)
        self._writer.commit(*astuple(report))
        self._writer.publish()
        if self._sender and changes is not None:
            self._sender.take(changes, report, self._writer.everything)

    def close(self) -> None:
        """Mark the file as no longer updated; another process may write it from now on."""
        self.update(0.0, "stopped")
        if self._sender:
            self._sender.close()

    def _as_seen(self, births: pa.RecordBatch) -> pa.RecordBatch:
        visible = self._reader.at(filled(births, _ASKED))
        about_names = pc.equal(births["subject"].cast(pa.utf8()), "name")
        history = pc.if_else(about_names, visible["name_history"], visible["history"])
        place = births.schema.get_field_index("history")
        return births.set_column(place, "history", history.cast(pa.binary()))

    def _share_lost(self) -> float:
        # # A clock that was ahead must not make the loss count until that time.
        while self._losses and abs(self._losses[0][0] - self._clock) > RECENT:
            self._losses.popleft()
        seen, lost = (sum(each[column] for each in self._losses) for column in (1, 2))
        return lost / (seen + lost) if lost else 0.0


def _sender(settings: Following) -> Sender | None:
    """Return the sender of a copy, if the settings name a service."""
    if settings.send is None:
        return None
    from birthmark.data.follow.sending import Sender  # HTTP and TLS are slow to import

    return Sender(settings)
