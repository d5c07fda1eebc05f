"""Traces that no server wrote, and traces with many gaps: every call still accounted for."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.samples import DAYS
from birthmark.layout_hint.rewrite import build
from tests import needs
from tests.layout_hint.rewrite.made import Row, op, replayed_trace, write_trace

PROCEDURES = [
    *("lookup", "create", "mkdir", "symlink", "mknod", "remove", "rmdir", "rename", "link"),
    *("getattr", "setattr", "read", "write", "access", "readdir", "readdirplus", "readlink"),
]
STATUSES = [0, 0, 0, 0, 0, 1, 2, 13, 17, 20, 21, 22, 63, 66, 70]


def nonsense(seed: int) -> list[Row]:
    """Calls on a few handles and names that end arbitrarily, and overlap."""
    dice = random.Random(seed)
    handles = [b"%d" % number for number in range(dice.choice([3, 6, 12]))]
    names = [b"x", b"y", b"z", b".", b".."]
    rows = []
    for number in range(120):
        row = op(dice.choice(PROCEDURES), number / 100, dice.choice(handles))
        row |= {"status": dice.choice(STATUSES), "reply": number / 100 + dice.random() / 20}
        row |= {"name": dice.choice(names), "name2": dice.choice(names), "target": b"t"}
        row |= {"fh2": dice.choice(handles), "new_fh": dice.choice([*handles, None])}
        row |= {"offset": dice.randrange(9), "count": 5, "reply_count": dice.randrange(9)}
        row |= {"uid": dice.choice([0, 1001, None]), "how": dice.choice([0, 1, 2])}
        row |= {dice.choice(["set_mode", "set_size", "set_owner"]): dice.choice([0, 1001])}
        if dice.random() < 0.6:
            row |= {"ftype": dice.choice([1, 2, 5, 7]), "mode": dice.choice([0, 0o644, 0o1777])}
            row |= {"nlink": dice.choice([1, 2]), "owner": 1001, "size": dice.randrange(20)}
        entry = {"name": dice.choice(names), "fh": dice.choice(handles), "fileid": 1, "cookie": 1}
        rows.append(row | {"entries": [entry]})
    return rows


@pytest.mark.parametrize("seed", range(20))
def test_nonsense_is_built_and_run_without_losing_count(tmp_path: Path, seed: int) -> None:
    trace = write_trace(tmp_path / "trace.parquet", nonsense(seed))
    unnamed = ("invent", "discard")[seed % 2]
    built = build([trace], tmp_path / "build", unnamed=unnamed)
    assert built.calls == 120 == built.operations + sum(built.left_out.values())
    ran = needs.research("replay").run(tmp_path / "build", tmp_path / "root")
    assert ran.operations == built.operations
    assert ran.same + ran.different + ran.not_compared == ran.operations
    inserted = sum(number for ops in built.inserted.values() for number in ops.values())
    assert ran.inserted <= inserted


@pytest.mark.deep
@pytest.mark.parametrize("share_lost", [0.05, 0.3])
def test_with_calls_missing_the_others_end_as_they_did(tmp_path: Path, share_lost: float) -> None:
    dice = random.Random(1)
    day = pq.read_table(DAYS[0]).slice(40_000, 10_000)
    remaining = pa.array([dice.random() >= share_lost for _ in range(len(day))])
    pq.write_table(day.filter(remaining), tmp_path / "trace.parquet")
    found = replayed_trace(tmp_path, tmp_path / "trace.parquet")
    assert found.inserted
    assert found.ran.share >= 0.995
    assert found.ran.inserted_failed == 0
    assert found.ran.operations >= 0.99 * found.built.calls
