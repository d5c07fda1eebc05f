"""Creates that wait for the service's answer: what it says, and what its absence costs."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.hint_service import HintService
from birthmark.features import CREATES
from birthmark.layout_hint import AskedCreate
from birthmark.layout_hint.native import Hook
from birthmark_native import ImageError, TableError
from tests.serving.services import publish, served, settings_for
from tests.waiting import eventually

LONG = 60.0
DAWN = datetime(2001, 10, 22, 5, 30, tzinfo=UTC)


def batch(names: list[bytes | None], **columns: Any) -> pa.RecordBatch:
    """Return creates of one owner."""
    row = {"mode": 0o600, "uid": 1, "gid": 1, "time": DAWN} | columns
    rows = [{"name": name, **row} for name in names]
    return pa.Table.from_pylist(rows, schema=CREATES).combine_chunks().to_batches()[0]


def kinds(n: int) -> list[bytes | None]:
    """Return names of as many kinds, none of which a number tells apart."""
    return ["".join(letters).encode() for letters in list(product(ascii_lowercase, repeat=2))[:n]]


def counted(hook: Hook) -> dict[str, Any]:
    counters: dict[str, Any] = json.loads(hook.counters)
    return counters


@pytest.fixture
def uds(tmp_path: Path) -> Path:
    return tmp_path / "service"


def test_the_service_says_of_each_create_what_its_image_says(tmp_path, uds):
    settings = settings_for(tmp_path / "registry", uds=uds)
    publish(settings.registry, heat=True)
    names = [
        b"u1.lock",
        b"app1.log",
        b"page1.html",
        "é.lock".encode(),
        b"\xff.lock",
        b'".lock',
        b"x",
    ]
    with served(settings) as client:
        waits = Hook(service=HintService(uds), deadline=LONG)
        table = Hook(image=client.get("/v1/model/image").content)
        output = set()
        for directory, owner in product(
            [False, True], [{}, {"mode": None, "uid": 7, "time": None}]
        ):
            creates = batch(names, **owner)
            (verdicts, _), (expected, _) = (
                waits.ask(creates, directory),
                table.ask(creates, directory),
            )
            assert verdicts.to_pylist() == expected.to_pylist()
            output |= set(verdicts.to_pylist())
        assert len(output) > 1
        (verdicts, _), (expected, _) = waits.ask(same := batch([b"u77.lock"])), table.ask(same)
        assert verdicts.to_pylist() == expected.to_pylist() != [0]
    counters = counted(waits)
    assert counters["service"]["answered"] == 4 * len(names) == counters["cache_misses"]
    assert counters["cache_hits"] == 1, "a create of the same kind asks no more"


def test_creates_go_on_cold_while_the_service_is_gone_and_are_hinted_once_it_is_back(tmp_path, uds):
    settings = settings_for(tmp_path / "registry", uds=uds)
    publish(settings.registry, heat=True)
    hook = Hook(service=HintService(uds), deadline=LONG, back_off=(3600.0, 3600.0), failures=3)
    short = Hook(service=HintService(uds), deadline=LONG, back_off=(0.001, 0.001), failures=3)
    for gone in (hook, short):
        verdicts, _ = gone.ask(batch(kinds(20)))
        assert verdicts.to_pylist() == [0] * 20
    counters = counted(hook)["service"]
    assert (counters["gone"], counters["opened"], counters["unasked"]) == (3, 1, 17)
    with served(settings):
        assert eventually(lambda: short.ask(batch([b"u1.lock"]))[0].to_pylist() != [0])
        assert hook.ask(batch([b"u1.lock"]))[0].to_pylist() == [0]
    assert counted(short)["service"]["probes"] >= 1


def test_a_service_without_a_model_gives_no_hints(tmp_path, uds):
    with served(settings_for(tmp_path / "registry", uds=uds)):
        hook = Hook(service=HintService(uds), deadline=LONG)
        assert hook.ask(batch([b"u1.lock"]))[0].to_pylist() == [0]
    assert counted(hook)["service"]["bad"] == 1


def test_a_service_that_hangs_is_late_for_the_first_creates_alone(uds):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(uds))
        listener.listen()
        hook = Hook(service=HintService(uds), deadline=0.002, failures=4, back_off=(3600.0, 3600.0))
        verdicts, _ = hook.ask(batch(kinds(100)))
    assert verdicts.to_pylist() == [0] * 100
    counters = counted(hook)["service"]
    assert (counters["late"], counters["answered"], counters["unasked"]) == (4, 0, 96)


def test_hooks_refuse_what_is_no_image_and_no_create():
    with pytest.raises(ImageError, match="not a compiled image"):
        Hook(image=b"x" * 99)
    with pytest.raises(TableError, match='column "name" is missing'):
        Hook().ask(pa.RecordBatch.from_pydict({"x": [1]}))


class UnlikelyError(Exception):
    """What no service raises."""


@pytest.mark.parametrize(
    ("raised", "counter"),
    [(TimeoutError, "late"), (ConnectionError, "gone"), (OSError, "gone"), (UnlikelyError, "bad")],
)
def test_counts_a_service_s_exceptions_by_kind(raised: type[Exception], counter: str) -> None:
    def service(create: AskedCreate, seconds: float) -> int:
        raise raised

    hook = Hook(service=service, deadline=LONG)
    assert hook.ask(batch([b"a"]))[0].to_pylist() == [0]
    counters = counted(hook)["service"]
    assert {name for name in ("late", "gone", "bad", "answered") if counters[name]} == {counter}


@pytest.mark.parametrize("output", [8, -1, 1.0, "1", None])
def test_counts_an_invalid_verdict_as_bad(output: Any) -> None:
    hook = Hook(service=lambda create, seconds: output, deadline=LONG)
    assert hook.ask(batch([b"a"]))[0].to_pylist() == [0]
    assert counted(hook)["service"]["bad"] == 1


def test_asks_a_service_with_all_known_members_and_a_deadline() -> None:
    asked: list[tuple[AskedCreate, float]] = []

    def service(create: AskedCreate, seconds: float) -> int:
        asked.append((create, seconds))
        return 5

    hook = Hook(service=service, deadline=LONG)
    assert hook.ask(batch([b"\xff.lock"]))[0].to_pylist() == [5]
    hook.ask(batch([b"x"], mode=None, uid=None, gid=None, time=None), directory=True)
    creates = [create for create, _ in asked]
    assert creates == [
        (b"\xff.lock", False, (0o600, 1, 1), 5),
        (b"x", True, (None, None, None), None),
    ]
    assert all(0 < seconds <= LONG for _, seconds in asked)
