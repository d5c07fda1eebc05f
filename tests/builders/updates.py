"""Updates of a live history, as a follower sends them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from birthmark.data.follow.updates import Report, Update
from birthmark_native import HistoryChanges, HistoryKeeper, SharedHistoryWriter

CLOCK = 1_797_770_000_000_000
"""When the last operation happened, microseconds since the epoch."""

HANDLE, PATH = b"a directory's handle", b"/home/ada"


def changes(history: HistoryKeeper | None = None) -> HistoryChanges:
    """Return everything that a follower knows: a directory, and a history of files."""
    with TemporaryDirectory() as folder:
        writer = SharedHistoryWriter(Path(folder) / "history", 1000, 100, "0.1.0")
        writer.directory(HANDLE, name=b"ada", path=PATH, time=CLOCK)
        if history is not None:
            writer.put_all("file", history)
        writer.commit(CLOCK, 0.0, 0.0, "following")
        return writer.everything()


def update(
    number: int,
    whole: bool = True,
    sent: HistoryChanges | None = None,
    session: str = "first",
    sender: str = "nas1:/run/history",
    state: str = "following",
    lag: float = 0.0,
    thresholds: str | None = None,
) -> Update:
    """Return an update; with no ``sent`` changes, an empty one."""
    report = Report(CLOCK, lag, 0.0, state, 7)
    changes = sent or HistoryChanges()
    return Update(sender, "0.1.0", session, number, whole, report, changes, thresholds)
