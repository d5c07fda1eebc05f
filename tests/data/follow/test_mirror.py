"""Readers of a follower's live history see the history of the operations handed on so far."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from birthmark.data.datasets.tables import read_files
from birthmark.data.follow import state
from birthmark.data.follow.run import Follower, follow
from birthmark.data.schema import LOOKED_UP
from birthmark.data.settings import Following
from birthmark_native import HistoryKeeper, LiveHistory, SharedHistory, SharedHistoryWriter
from tests.builders.followed import packets, split
from tests.data.follow.test_resume import KilledError, killer


@pytest.fixture
def creates(whole: Path) -> pa.RecordBatch:
    """Return the births in the capture, as queries after the capture's end."""
    files = read_files(whole / "ingested")
    files = files.filter(files["birth_seen"])
    files = files.append_column("time", files["born"])
    (batch,) = (
        pa.table({n: files[n].cast(t) for n, t in LOOKED_UP.items()}).combine_chunks().to_batches()
    )
    late = pa.repeat(pc.add(pc.max(batch["time"]), timedelta(hours=1)), len(batch))
    return batch.set_column(6, "time", late)


@pytest.fixture
def settings(tmp_path: Path) -> Following:
    (tmp_path / "run").mkdir(mode=0o700)
    return Following(hour_seconds=60, history=tmp_path / "run" / "history", history_keys=10_000)


def reading(settings: Following) -> SharedHistory:
    assert settings.history is not None
    return SharedHistory(settings.history, max_age=60.0, max_lag=1e12, max_loss=1.0)


class Beside:
    """A live history that receives everything that a follower hands on."""

    def __init__(self) -> None:
        self.live = LiveHistory(HistoryKeeper(10_000), HistoryKeeper(10_000))
        self.live.set_losses_known(True)
        self.operations = 0

    def __call__(self, batch: pa.RecordBatch) -> None:
        self.live.update(batch)
        self.operations += len(batch)


def until_quiet(follower: Follower) -> Iterator[None]:
    """Continue until a pipe, which stays open, has been read completely."""
    quiet = 0
    while quiet < 3:
        before = follower.status.operations
        assert follower.go_on()
        quiet = quiet + 1 if follower.status.operations == before else 0
        yield


def test_readers_see_the_history_of_all_operations(
    whole: Path, tmp_path: Path, settings: Following, creates: pa.RecordBatch
) -> None:
    beside, (source, sink) = Beside(), os.pipe()
    header, all_packets = packets(whole / "whole.pcap")
    no_names = pa.nulls(len(creates), pa.large_binary())
    asked = {"file": creates, "name": creates.set_column(2, "dir_name", no_names)}
    seen_histories = []
    with Follower(f"/dev/fd/{source}", tmp_path / "out", settings, beside) as follower:
        reader = reading(settings)
        assert reader.tell(b"a")[2] == "starting"
        os.write(sink, header)
        for at in range(0, len(all_packets), 1000):
            os.write(sink, b"".join(all_packets[at : at + 1000]))
            for _ in until_quiet(follower):
                pass
            answers = reader.at(creates)
            assert set(answers["why"].to_pylist()) == {None}
            for column, subject in (("history", "file"), ("name_history", "name")):
                expected = beside.live.history(subject).at(asked[subject])
                assert answers[column].to_pylist() == expected.to_pylist()
            seen_histories.append(answers["history"].to_pylist())
        assert reader.status()["clock"] == follower.status.clock
    assert len(seen_histories) > 2
    assert seen_histories[0] != seen_histories[-1]
    assert reader.tell(b"a")[2] == "stopped"
    os.close(source)
    os.close(sink)


def test_a_directory_lends_its_name_and_is_known_by_its_path(
    whole: Path, tmp_path: Path, settings: Following, creates: pa.RecordBatch
) -> None:
    nameless = creates.set_column(2, "dir_name", pa.nulls(len(creates), pa.large_binary()))
    with Follower(
        whole / "whole.pcap", tmp_path / "out", settings.model_copy(update={"until_idle": 0.5})
    ) as follower:
        for _ in until_quiet(follower):
            pass
        reader = reading(settings)
        with_names = reader.at(creates)["history"].to_pylist()
        assert reader.at(nameless)["history"].to_pylist() == with_names
        assert len(set(creates["dir_name"].to_pylist())) > 3


def test_a_killed_follower_resumes_with_the_same_history(
    whole: Path, tmp_path: Path, settings: Following
) -> None:
    split(whole / "whole.pcap", tmp_path / "captures", [101] * 30)
    known = []
    for out, most in (("killed", 700), ("whole", 10**9)):
        how = settings.model_copy(update={"until_idle": 0.01})

        with suppress(KilledError):
            follow(tmp_path / "captures", tmp_path / out, how, killer(most))
        follow(tmp_path / "captures", tmp_path / out, how)
        last = state.newest(tmp_path / out)
        assert last is not None
        saved = LiveHistory.load(state.lives(tmp_path / out, last))
        known.append([saved.history(subject).to_batch() for subject in ("file", "name")])
    assert known[0] == known[1]
    assert all(batch.num_rows > 100 for batch in known[0])


def test_without_a_file_there_is_no_history(whole: Path, tmp_path: Path) -> None:
    follow(whole / "whole.pcap", tmp_path / "out", Following(until_idle=0.01))
    last = state.newest(tmp_path / "out")
    assert last is not None
    with pytest.raises(ValueError, match="begins with"):
        LiveHistory.load(state.lives(tmp_path / "out", last))


@pytest.mark.parametrize("kind", ["fifo", "link"])
def test_a_live_history_takes_the_place_of_no_link_and_no_fifo(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "history"
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "other")
    with pytest.raises(ValueError, match="expected a regular file or a free name"):
        SharedHistoryWriter(str(path), 10, 10, "test")
    assert path.is_fifo() if kind == "fifo" else path.is_symlink()
    assert [each.name for each in tmp_path.iterdir()] == ["history"]
