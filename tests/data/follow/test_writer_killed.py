"""Writers of a shared history are killed at random, while processes read as fast as they can."""

from __future__ import annotations

import signal
import time
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.samples import DAYS
from birthmark.data.schema import LOOKED_UP
from birthmark.features import History
from birthmark_native import HistoryKeeper, SharedHistory, SharedHistoryWriter
from tests.data.follow.traffic import nameless
from tests.faults.commands import CONTEXT
from tests.waiting import eventually

pytestmark = pytest.mark.deep

KILLS = 20
READERS = 2
STATES = 3
ROWS = 200
LOOKS = 5_000
"""Reads by each reader after each kill: a reader that waited for a dead writer would have none."""


def files() -> pa.Table:
    """Return files born on a sample day."""
    table, _ = lives.tables(pq.read_table(DAYS[0]).slice(0, 20_000).to_batches())
    return table.filter(table["birth_seen"]).sort_by("born")


def states(known: pa.Table) -> list[HistoryKeeper]:
    """Return histories of the same keys, each with other births of them.

    In the second, another file precedes a caller's first file, with different keys.
    """
    made = [History() for _ in range(STATES)]
    for times, history in enumerate(made, start=2):
        for _ in range(times):
            history.follow(known)
    return [history.keeper for history in made]


def asked_about(known: pa.Table) -> list[dict[str, Any]]:
    """Return creates like those of files, a day later."""
    late = pc.add(pc.max(known["born"]), timedelta(days=1)).cast(pa.int64()).as_py()
    rows = known.slice(0, ROWS).select([name for name in LOOKED_UP if name != "time"]).to_pylist()
    return [row | {"time": late} for row in rows]


def write(path: Path) -> None:
    """Write one state after the other, until killed."""
    made = states(files())
    writer = SharedHistoryWriter(path, 100_000, 1_000, "")
    while True:
        for state in made:
            for subject in ("file", "name"):
                writer.put_all(subject, state)
            writer.commit(0, 0.0, 0.0, "following")
            writer.publish()


def expected(known: pa.Table) -> list[set[tuple[bytes, bytes]]]:
    """Return the histories that each state has for each create, of files and of names."""
    asked = pa.RecordBatch.from_pylist(asked_about(known), pa.schema(LOOKED_UP))
    by_state = [
        list(zip(state.at(asked).to_pylist(), state.at(nameless(asked)).to_pylist(), strict=True))
        for state in states(known)
    ]
    return [set(of_create) for of_create in zip(*by_state, strict=True)]


def read(path: Path, looks: Any, reads: Any) -> None:
    """Read until killed; end at a result that is not from a single state."""
    known = files()
    whole, asked = expected(known), asked_about(known)
    reader = SharedHistory(path, max_age=600, max_lag=600, max_loss=0)
    while True:
        for create, of_create in zip(asked, whole, strict=True):
            seen, _, why = reader.tell(**create)
            looks.value += 1
            if why is None:
                assert seen in of_create
                reads.value += 1


def test_writers_killed_at_20_instants_tear_no_answer_and_block_no_reader(tmp_path: Path) -> None:
    whole = expected(files())
    assert sum(len(of_create) == STATES for of_create in whole) > ROWS / 2
    history, chance = tmp_path / "history", Random(20)
    counts = [(CONTEXT.Value("Q"), CONTEXT.Value("Q")) for _ in range(READERS)]
    readers = [CONTEXT.Process(target=read, args=(history, *each), daemon=True) for each in counts]
    for reader in readers:
        reader.start()
    for _ in range(KILLS):
        killed_while_it_is_read(history, counts, chance)
        for looks, _ in counts:
            enough = looks.value + LOOKS
            assert eventually(lambda looks=looks, enough=enough: looks.value > enough, 60)
    assert all(reader.is_alive() for reader in readers)
    for reader in readers:
        reader.kill()
        reader.join()


def killed_while_it_is_read(history: Path, counts: list[tuple[Any, Any]], chance: Random) -> None:
    """Let a writer write until some time after readers see its writes."""
    writer = CONTEXT.Process(target=write, args=(history,), daemon=True)
    before = [reads.value for _, reads in counts]
    writer.start()
    for (_, reads), known in zip(counts, before, strict=True):
        assert eventually(lambda reads=reads, known=known: reads.value > known, 120)
    time.sleep(chance.uniform(0, 0.1))  # not a wait: the instant is random
    writer.kill()
    writer.join()
    assert writer.exitcode == -signal.SIGKILL
