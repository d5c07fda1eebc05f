"""Full disks: a follower reports them, loses nothing, and continues when there is room."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from birthmark.data.follow.hour import Hour
from birthmark.data.follow.run import Follower, follow
from birthmark.data.settings import Following
from birthmark_native import SharedHistory
from tests.builders.followed import Rows, hours, packets, rows
from tests.data.follow.test_mirror import until_quiet
from tests.data.follow.traffic import Followed, Traffic
from tests.faults.disks import Disk, mounted


def test_an_hour_that_finds_no_room_is_followed_again_and_all_behind_it(
    whole: Path, expected: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last two are finished at once: success of a later one does not lose the first."""
    how = Following(hour_seconds=20, until_idle=0.01)
    follow(whole / "whole.pcap", tmp_path / "undisturbed", how)
    publish, out, full = Hour.publish, tmp_path / "out", [hours(tmp_path / "undisturbed")[-2].name]

    def once_full(own: Hour, *of: Any) -> Path:
        if full == [own.name]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), full.pop())
        return publish(own, *of)

    monkeypatch.setattr(Hour, "publish", once_full)
    with pytest.raises(OSError, match="No space left on device"):
        follow(whole / "whole.pcap", out, how)
    follow(whole / "whole.pcap", out, how)
    assert rows(*hours(out)) == expected


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Yield a small disk with a directory `run` for a live history."""
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "48m") as disk:
        (disk.path / "run").mkdir(mode=0o700)
        yield disk


@pytest.mark.deep
@pytest.mark.parametrize("free", [0, 1 << 18, 1 << 20])
def test_a_follower_whose_disk_is_full_says_so_and_goes_on_when_it_is_not(
    disk: Disk, traffic: Traffic, tmp_path: Path, free: int
) -> None:
    followed = Followed(tmp_path, disk.path / "out")
    *parts, last = traffic.parts
    for part in parts:
        followed.bring(part)
    with disk.filled(free):
        command = [sys.executable, "-m", "birthmark", *followed.command]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
        assert str(disk.path) in done.stderr
        assert followed.reader.tell(b"a")[2] in ("stopped", "absent")
    followed.bring(last)
    assert followed.answers(traffic.asked, traffic.ended) == traffic.answers
    assert followed.saved() == traffic.saved
    assert followed.rows() == traffic.expected


@pytest.mark.deep
def test_a_live_history_is_made_whole_or_not_at_all_and_written_without_room(
    disk: Disk, whole: Path, expected: Rows, tmp_path: Path
) -> None:
    """A page without room on a full disk would end its writer and its readers (SIGBUS)."""
    history, (source, sink) = disk.path / "run" / "history", os.pipe()
    how = Following(hour_seconds=60, history=history, history_keys=10_000)
    reader = SharedHistory(history, max_age=600, max_lag=1e12, max_loss=1.0)
    header, frames = packets(whole / "whole.pcap")
    with disk.filled(1 << 20), pytest.raises(OSError, match="No space left") as refused:
        follow(whole / "whole.pcap", tmp_path / "out", how)
    assert refused.value.filename == str(history)
    assert sorted(path.name for path in history.parent.iterdir()) == ["history.lock"]
    assert reader.tell(b"a")[2] == "absent"
    with Follower(f"/dev/fd/{source}", tmp_path / "out", how) as follower, disk.filled():
        feeder = threading.Thread(target=os.write, args=(sink, header + b"".join(frames)))
        feeder.start()
        while feeder.is_alive():
            assert follower.go_on()
        for _ in until_quiet(follower):
            pass
        assert reader.status()["why"] is None
        assert reader.status()["keys"] > 500
        os.close(sink)
        while follower.go_on():
            pass
    assert rows(*hours(tmp_path / "out")) == expected
