"""Tests also training/learn/profile.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.lives import tables
from birthmark.data.samples import DAYS
from birthmark.predictor import births
from birthmark.training.audit.shifts import ALPHA, shifts
from birthmark.training.learn.profile import Profile, profile

BLOCKS = 24


class Stationary:
    """Days drawn from the blocks of one real one, so that nothing changes from day to day."""

    def __init__(self, files: pa.Table, seconds: int) -> None:
        self.files, self.seconds = files, seconds
        block = files["born"].cast(pa.int64()).to_numpy() // (seconds * 1_000_000)
        self.rows = [np.flatnonzero(block == each) for each in np.unique(block)]
        self.random = np.random.default_rng(3)

    def day(self, number: int = 0) -> pa.Table:
        drawn = [self.rows[each] for each in self.random.integers(0, len(self.rows), BLOCKS)]
        start = number * 86_400
        times = [
            np.full(len(rows), (start + place * self.seconds) * 1_000_000)
            for place, rows in enumerate(drawn)
        ]
        files = self.files.take(pa.array(np.concatenate(drawn)))
        return changed(files, "born", pa.array(np.concatenate(times)))


def changed(files: pa.Table, column: str, values: pa.Array) -> pa.Table:
    """Return files with other values in a column."""
    place = files.column_names.index(column)
    return files.set_column(place, column, values.cast(files[column].type))


def planted(files: pa.Table, column: str, value: Any, every: int) -> pa.Table:
    """Return files with a value in every n-th."""
    values = files[column].to_pylist()
    values[::every] = [value] * len(values[::every])
    return changed(files, column, pa.array(values))


def reported_shifts(learned: pa.Table, night: pa.Table, seconds: int) -> set[tuple[str, str, str]]:
    found = shifts(profile(learned, seconds), night)
    assert found is not None
    return {(each.aspect, each.value, each.change) for each in found}


@pytest.fixture(scope="module")
def stationary() -> Stationary:
    files = births(tables(pq.ParquetFile(DAYS[0]).iter_batches())[0])
    return Stationary(files.select(["name", "mode", "uid", "client", "born"]), 2)


@pytest.mark.deep
def test_false_alarms_without_changes_keep_their_rate(
    stationary: Stationary,
) -> None:
    """At 1 in 20, not 1 in 365, so that a hundred nights tell."""
    nights = 100
    alarms = sum(
        bool(shifts(profile(stationary.day(), 2), stationary.day(), alpha=1 / 20))
        for _ in range(nights)
    )
    assert alarms <= nights / 20
    assert pytest.approx(1 / 365) == ALPHA


def test_a_new_suffix_a_vanished_one_and_another_mix_are_reported(stationary: Stationary) -> None:
    before, night = stationary.day(), stationary.day()
    assert ("suffix", "wal", "new") in reported_shifts(
        before, planted(night, "name", b"new.wal", 12), 2
    )
    assert ("suffix", "wal", "vanished") in reported_shifts(
        planted(before, "name", b"x.wal", 12), night, 2
    )
    assert ("user", "4711", "more") in reported_shifts(
        planted(before, "uid", 4711, 50), planted(night, "uid", 4711, 5), 2
    )
    assert ("mode", str(0o777), "fewer") in reported_shifts(
        planted(before, "mode", 0o777, 5), planted(night, "mode", 0o777, 50), 2
    )


def test_a_small_change_is_not_reported_however_significant(stationary: Stationary) -> None:
    days = pa.concat_tables([stationary.day(number) for number in range(4)])
    night = planted(days, "client", "newcomer", 70)  # 1.4 of a hundred
    assert not any(value == "newcomer" for _, value, _ in reported_shifts(days, night, 2))


def test_one_burst_is_not_reported_as_a_change(stationary: Stationary) -> None:
    night = stationary.day()
    names = night["name"].to_pylist()
    names[: len(names) // 10] = [b"burst.tmp9"] * (len(names) // 10)
    found = reported_shifts(stationary.day(), changed(night, "name", pa.array(names)), 2)
    assert not any(value == "tmp9" for _, value, _ in found)


def test_a_value_with_daily_swings_must_change_by_more(stationary: Stationary) -> None:
    """A suffix that some days have and some have not is not new on the day after."""
    swinging, steady = (
        pa.concat_tables(
            [
                planted(stationary.day(number), "name", b"a.swing", every(number))
                for number in range(5)
            ]
        )
        for every in (lambda number: 5 if number % 2 else 10**9, lambda number: 10)
    )
    night = planted(stationary.day(), "name", b"a.swing", 3)
    assert ("suffix", "swing", "more") in reported_shifts(steady, night, 2)
    assert ("suffix", "swing", "more") not in reported_shifts(swinging, night, 2)


def test_too_little_is_not_judged(stationary: Stationary) -> None:
    day = stationary.day()
    assert shifts(profile(day, 2), day.slice(0, 5)) is None
    assert shifts(profile(day, 2), day.slice(0, 0)) is None
    assert shifts(profile(day.slice(0, 5), 2), day) is None


def test_a_profile_is_the_same_after_it_was_saved(stationary: Stationary, tmp_path: Path) -> None:
    saved = profile(stationary.day())
    (tmp_path / "profile.json").write_text(json.dumps(saved.to_json()))
    assert Profile.from_json(json.loads((tmp_path / "profile.json").read_text())) == saved
    assert saved.rows == sum(saved.days)
    assert all(
        0 < count.hits <= saved.rows for own in saved.counts.values() for count in own.values()
    )
