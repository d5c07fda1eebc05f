"""The operations of workloads follow the rules of the protocol (RFC 1813).

Tests also research/workloads/.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.schema import OPERATIONS
from birthmark.research.workloads import Workload, generate
from birthmark.research.workloads.generate import Source

NO_ENTRY = 2


def table(workload: Workload) -> pa.Table:
    return pa.Table.from_batches(list(generate(workload)), schema=OPERATIONS)


def micros(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.int64()).to_numpy()


def test_the_same_seed_gives_the_same_operations_and_another_gives_others(workload):
    first = table(workload)
    assert first.equals(table(workload))
    assert not first.equals(table(replace(workload, seed=6)))


def test_a_longer_trace_begins_with_the_shorter_one(workload):
    short, long = table(replace(workload, days=1 / 24)), table(workload)
    whole = micros(long["reply_time"]) < micros(short["reply_time"])[-1]
    assert 100 < whole.sum() < len(long)
    assert short.slice(0, int(whole.sum())).equals(long.filter(pa.array(whole)))


def test_batches_are_of_the_operations_table_in_the_order_of_replies(workload):
    made = table(workload)
    made.validate(full=True)
    calls, replies = micros(made["time"]), micros(made["reply_time"])
    assert (calls < replies).all()
    assert (np.diff(replies) >= 0).all()
    identities = zip(made["client"].to_pylist(), made["xid"].to_pylist(), strict=True)
    assert max(Counter(identities).values()) == 1


def test_lives_built_from_the_operations_are_those_that_were_planned(workload):
    source = Source(workload)
    batches, planned = [], {}
    for rows in source.plan():
        batch = source.table.batch(rows)
        batches.append(batch)
        handles = {
            slot: fh
            for slot, fh, op in zip(
                rows["obj"].tolist(),
                batch["new_fh"].to_pylist(),
                batch["op"].to_pylist(),
                strict=True,
            )
            if op == "create"
        }
        follow(rows, batch["op"].to_pylist(), handles, planned, source.site.objects.names)
    files, _ = lives.tables(batches)
    found = {
        row["fh"]: (
            row["name"],
            row["reads"],
            row["writes"],
            row["bytes_written"],
            row["max_size"],
            row["death_seen"],
        )
        for row in files.filter(files["birth_seen"]).to_pylist()
    }
    expected = {
        life["fh"]: (
            life["name"],
            life["read"],
            life["write"],
            life["bytes"],
            life["size"],
            life["links"] == 0,
        )
        for life in planned.values()
    }
    assert len(expected) > 20
    assert found == expected
    spans = {row["fh"]: (row["born"], row["died"]) for row in files.to_pylist()}
    for life in planned.values():
        born, died = spans[life["fh"]]
        assert round(born.timestamp() * 1e6) == life["born"]
        if life["links"] == 0:
            assert round(died.timestamp() * 1e6) == life["died"]


def follow(rows, ops, handles, planned, names) -> None:
    """Record the plan of each file that it creates, keyed by slot and birth."""
    for row, op in zip(rows, ops, strict=True):
        slot = int(row["obj"])
        if op == "create":
            planned["alive", slot] = {
                "fh": handles[slot],
                "name": names[slot],
                "born": int(row["reply"]),
                "read": 0,
                "write": 0,
                "bytes": 0,
                "size": 0,
                "links": 1,
                "died": None,
            }
        life = planned.get(("alive", slot))
        if life is None:
            continue
        if op in ("read", "write"):
            life[op] += 1
        if op == "write":
            life["bytes"] += int(row["count"])
            life["size"] = max(life["size"], int(row["offset"] + row["count"]))
        life["links"] += {"link": 1, "remove": -1}.get(op, 0)
        life["died"] = int(row["reply"])
        if row["last"]:
            planned["done", slot, life["born"]] = planned.pop(("alive", slot))


def test_a_new_file_is_looked_for_in_vain_before_it_is_created(workload):
    missed, creates = set(), 0
    for row in table(workload).select(["op", "status", "fh", "name"]).to_pylist():
        key = (row["fh"], row["name"])
        if row["op"] == "lookup" and row["status"] == NO_ENTRY:
            missed.add(key)
        if row["op"] == "create":
            creates += 1
            assert key in missed
    assert creates > 20


def test_nothing_is_done_to_a_file_after_its_last_name_is_removed(workload):
    gone: dict[bytes, int] = {}
    made = table(workload)
    files, _ = lives.tables(made.to_batches())
    for row in files.filter(files["death_seen"]).to_pylist():
        gone[row["fh"]] = round(row["died"].timestamp() * 1e6)
    later = [
        fh
        for column in ("fh", "new_fh")
        for fh, call in zip(made[column].to_pylist(), micros(made["time"]), strict=True)
        if fh in gone and call > gone[fh]
    ]
    assert len(gone) > 20
    assert later == []


def test_replies_show_what_the_operations_before_them_made_of_a_file(workload):
    sizes: dict[bytes, int] = {}
    mtimes = defaultdict(int)
    columns = ["op", "status", "fh", "new_fh", "offset", "count", "size", "mtime", "eof", "nlink"]
    made = table(workload).select(columns).to_pylist()
    for row in made:
        fh = row["new_fh"] or row["fh"]
        if row["op"] == "create":
            assert (row["size"], row["nlink"]) == (0, 1)
            sizes[fh] = 0
        if row["size"] is None or fh not in sizes:
            continue
        if row["op"] == "write":
            sizes[fh] = max(sizes[fh], row["offset"] + row["count"])
        if row["op"] == "read":
            assert row["eof"] == (row["offset"] + row["count"] >= sizes[fh])
        if row["op"] == "link":
            assert row["nlink"] == 2
        assert row["size"] == sizes[fh]
        mtime = row["mtime"].timestamp()
        assert mtime >= mtimes[fh]
        mtimes[fh] = mtime
    assert len(sizes) > 20


def test_a_lock_is_linked_to_its_name_and_held_by_one_at_a_time():
    made = table(Workload("campus", seed=2, start="2001-10-22", days=0.05, rate=0.02))
    held: set[tuple[bytes, bytes]] = set()
    links = 0
    for row in made.select(["op", "status", "fh", "fh2", "name"]).to_pylist():
        if row["op"] == "link":
            links += 1
            assert row["name"] == b".inbox.lock"
            assert (row["fh2"], row["name"]) not in held
            held.add((row["fh2"], row["name"]))
        if row["op"] == "remove":
            held.discard((row["fh"], row["name"]))
    assert links > 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "home"}, "workload: expected one of campus, deas03, eecs03, found 'home'"),
        ({"start": "monday"}, "start: expected a date, as 2001-10-22.*'monday'"),
        ({"seed": -1}, "seed: .*greater than or equal to 0, found -1"),
        ({"days": 0}, "days: .*greater than 0, found 0"),
        ({"rate": 101}, "rate: .*less than or equal to 100, found 101"),
    ],
)
def test_a_workload_that_makes_no_sense_is_refused(change, message):
    given = {"name": "campus", "seed": 1, "start": "2001-10-22", "days": 1, "rate": 1} | change
    with pytest.raises(ValueError, match=message):
        Workload(**given)
