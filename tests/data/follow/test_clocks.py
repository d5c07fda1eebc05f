"""Clocks that are set: the history is soon right again, and no event is emitted twice."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from birthmark.data.follow.run import Follower
from birthmark.data.ingest.run import ingest
from birthmark.data.settings import Following
from birthmark_native import LiveHistory, SharedHistory
from tests.builders.followed import hours, packets, rows
from tests.data.follow.test_mirror import Beside, until_quiet

HOURS_3 = 10_800


def moved(frame: bytes, seconds: int) -> bytes:
    """Return a packet with a later time."""
    return struct.pack("<I", struct.unpack_from("<I", frame)[0] + seconds) + frame[4:]


class Piped:
    """A follower of a pipe with a live history, to feed packets to."""

    def __init__(self, folder: Path, header: bytes) -> None:
        (folder / "run").mkdir(mode=0o700)
        source, self._sink = os.pipe()
        self.out, history = folder / "out", folder / "run" / "history"
        how = Following(hour_seconds=60, history=history, history_keys=10_000)
        self.beside = Beside()
        self.follower = Follower(f"/dev/fd/{source}", self.out, how, self.beside)
        self.reader = SharedHistory(history, max_age=600, max_lag=1e12, max_loss=0.01)
        self.written = header
        os.write(self._sink, header)

    def put(self, frames: list[bytes]) -> None:
        """Feed packets, and wait until everything in them is known."""
        for at in range(0, len(frames), 1000):
            os.write(self._sink, b"".join(frames[at : at + 1000]))
            for _ in until_quiet(self.follower):
                pass
        self.written += b"".join(frames)

    def end(self) -> None:
        """End the input."""
        os.close(self._sink)
        while self.follower.go_on():
            pass

    def why(self) -> str | None:
        """Return why the live history is unavailable, if it is."""
        return self.reader.tell(b"a")[2]


def without_some(frames: list[bytes]) -> list[bytes]:
    """Return packets without every eighth."""
    return [frame for number, frame in enumerate(frames) if number % 8]


def test_a_clock_that_is_set_tells_nothing_wrong_for_long_and_nothing_twice(
    whole: Path, tmp_path: Path
) -> None:
    """The monitor's clock is three hours ahead for a while, and packets are lost meanwhile."""
    header, frames = packets(whole / "whole.pcap")
    piped, third = Piped(tmp_path, header), len(frames) // 3
    with piped.follower:
        piped.put(without_some(frames[:third]))
        assert piped.why() is None
        piped.put([moved(frame, HOURS_3) for frame in frames[third : 2 * third]])
        assert piped.why() == "lossy"  # the losses before, which are known by now
        piped.put(frames[2 * third :])
        assert piped.why() is None
        assert piped.reader.status()["clock"] == piped.follower.status.clock
        piped.end()
    (tmp_path / "passed.pcap").write_bytes(piped.written)
    ingest([tmp_path / "passed.pcap"], tmp_path / "ingested")
    assert rows(*hours(piped.out)) == rows(tmp_path / "ingested")
    assert each_is_emitted_once(piped.beside.live)


def test_losses_count_for_some_minutes_after_they_become_known(whole: Path, tmp_path: Path) -> None:
    header, frames = packets(whole / "whole.pcap")
    piped, fourth = Piped(tmp_path, header), len(frames) // 4
    with piped.follower:
        piped.put(without_some(frames[:fourth]))
        assert piped.why() is None
        piped.put(frames[fourth:])
        assert piped.why() == "lossy"
        piped.put([moved(frame, 1_000) for frame in frames[:fourth]])
        assert piped.why() is None
        piped.end()


def each_is_emitted_once(live: LiveHistory) -> bool:
    """Return whether every birth, and every fact about one, was emitted at most once."""
    births = live.take_births().select(["subject", "id"]).to_pylist()
    outcomes = live.take_outcomes().select(["subject", "id", "fact", "mark"]).to_pylist()
    assert len(births) > 100
    assert len(outcomes) > 100
    emitted = [tuple(each.values()) for each in (*births, *outcomes)]
    return len(set(emitted)) == len(emitted)
