"""The state of a follower may be damaged: a new follower starts fresh, without wrong results."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from birthmark.data.datasets.tables import read_table
from birthmark.data.follow import state
from birthmark.data.follow.run import Follower, follow
from birthmark.data.settings import Following
from birthmark_native import SharedHistory
from tests.builders.followed import hours, split
from tests.data.follow.test_mirror import Beside, until_quiet
from tests.data.follow.test_resume import KilledError, killer
from tests.data.follow.traffic import creates, ended, nameless


def flipped(content: bytes, seed: int) -> bytes:
    """Return content with one bit, anywhere, flipped."""
    place = random.Random(seed).randrange(8 * len(content))
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "flipped, 1": lambda content: flipped(content, 1),
    "flipped, 2": lambda content: flipped(content, 2),
    "flipped, 3": lambda content: flipped(content, 3),
    "cut short": lambda content: content[: len(content) // 2],
    "longer": lambda content: content + b"\0",
    "empty": lambda content: b"",
}


@pytest.fixture(scope="module")
def killed(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `captures`, and `out`, the remains of a killed follower of them."""
    folder = tmp_path_factory.mktemp("killed")
    (folder / "run").mkdir(mode=0o700)
    split(whole / "whole.pcap", folder / "captures", [101] * 30)
    how = Following(hour_seconds=30, history=folder / "run" / "history", history_keys=10_000)
    with pytest.raises(KilledError):
        follow(folder / "captures", folder / "out", how, killer(900))
    return folder


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_snapshot_is_ignored_and_its_file_is_named(
    killed: Path,
    whole: Path,
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    out = shutil.copytree(killed / "out", tmp_path / "out")
    last = state.newest(out)
    assert last is not None
    saved = state.lives(out, last)
    saved.write_bytes(damage(saved.read_bytes()))
    (tmp_path / "run").mkdir(mode=0o700)
    history, beside = tmp_path / "run" / "history", Beside()
    how = Following(hour_seconds=30, until_idle=1, history=history, history_keys=10_000)
    asked = creates(whole / "ingested")
    with Follower(killed / "captures", out, how, beside) as follower:
        while follower.status.clock != ended(whole / "ingested"):
            assert follower.go_on()
        for _ in until_quiet(follower):
            pass
        reader = SharedHistory(history, max_age=600, max_lag=1e12, max_loss=1.0)
        answers = reader.at(asked)
        while follower.go_on():
            pass
    known = beside.live.history("file").at(asked).to_pylist()
    assert answers["history"].to_pylist() == known
    known_of_names = beside.live.history("name").at(nameless(asked)).to_pylist()
    assert answers["name_history"].to_pylist() == known_of_names
    assert str(saved) in caplog.text
    assert 100 < beside.operations < 1500
    assert sum(len(read_table(hour, "operations", ["xid"])) for hour in hours(out)) == 1500


def test_a_place_that_is_damaged_is_not_gone_on_from(killed: Path, tmp_path: Path) -> None:
    out = shutil.copytree(killed / "out", tmp_path / "out")
    last = state.newest(out)
    assert last is not None
    place = state.lives(out, last).with_name("place.json")
    content, found = place.read_bytes(), set()
    for seed in range(300):
        place.write_bytes(flipped(content, seed))
        found.add(state_or_error(out))
    # a changed blank does not matter
    assert found - {last} == {f"{place}: expected the state of a follower"}


def state_or_error(out: Path) -> state.State | str | None:
    """Return the state, or the beginning of the error that says why there is none."""
    try:
        return state.newest(out)
    except ValueError as error:
        return ":".join(str(error).split(":")[:2])
