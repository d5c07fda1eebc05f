"""A service receives the live history of a follower on another host, and answers use it."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from birthmark.data.follow.updates import MEDIA_TYPE, Update
from birthmark.serving.access import tokens
from birthmark.serving.live.received import Receiver
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.settings import Settings
from birthmark.training.registry import thresholds
from birthmark.training.registry.thresholds import MovedThresholds
from birthmark_native import SharedHistory, SharedHistoryWriter, StateError
from tests.builders.updates import HANDLE, PATH, changes, update
from tests.serving.services import settings_for
from tests.waiting import eventually


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings of a service that receives a history."""
    (tmp_path / "run").mkdir(mode=0o700)
    return settings_for(
        tmp_path / "registry",
        history=tmp_path / "run" / "history",
        history_keys=1000,
        history_directories=100,
        receive=True,
        model="forest",  # a kind that uses histories
    )


@pytest.fixture
def client(
    settings: Settings, served: Callable[..., Any], publish: Callable[..., str]
) -> Iterator[httpx.Client]:
    publish(settings.registry)
    with served(settings) as client:
        yield client


def path_of(settings: Settings) -> Path:
    assert settings.history is not None
    return settings.history


def send(client: httpx.Client, update: Update) -> tuple[int, str | None]:
    """Send an update to a service; return the status, and the type of the error, if any."""
    headers = {"content-type": MEDIA_TYPE}
    stream = bytes(update.to_stream())
    response = client.post("/v1/history", content=stream, headers=headers)
    return response.status_code, response.json()["error"]["type"] if response.content else None


def why(client: httpx.Client) -> str | None:
    answer = client.post("/v1/predictions", json={"name": "a.lock"}).json()
    reason: str | None = answer["live"]["why"]
    return reason


def refused(receiver: Receiver, stream: bytes) -> str:
    with pytest.raises(ApiError) as error:
        receiver.take(stream)
    return error.value.type


def is_free(settings: Settings) -> bool:
    """Return whether another worker could write."""
    try:
        SharedHistoryWriter(path_of(settings), 100, 100, "0.1.0")
    except StateError:
        return False
    return True


def test_creates_have_histories_once_a_copy_is_complete(
    client: httpx.Client, settings: Settings
) -> None:
    asked = {"name": "a.lock", "uid": 1, "directory_handle": b64encode(HANDLE).decode()}
    assert send(client, update(0, whole=False, state="starting")) == (204, None)
    assert send(client, update(1, whole=False, sent=changes(), state="starting")) == (204, None)
    assert why(client) == "absent"
    assert send(client, update(2)) == (204, None)
    assert eventually(lambda: why(client) is None)
    found = client.post("/v1/predictions", json=asked).json()
    assert (found["prediction"]["told"], found["live"]["why"]) == ("directory", None)
    status = SharedHistory(path_of(settings), 60.0, 60.0, 1.0).status()
    assert (status["follower"], status["aliases"], status["updates"]) == ("0.1.0", 2, 3)


def test_a_copy_has_the_state_of_its_follower(client: httpx.Client) -> None:
    for number, (state, lag, expected) in enumerate(
        [("starting", 0.0, "starting"), ("following", 60.0, "behind"), ("following", 0.0, None)]
    ):
        assert send(client, update(number, state=state, lag=lag)) == (204, None)
        assert eventually(lambda expected=expected: why(client) == expected)


def test_an_update_is_refused_unless_it_is_the_next_one(client: httpx.Client) -> None:
    gap = (409, "history_gap")
    assert send(client, update(1)) == gap
    assert send(client, update(0)) == (204, None)
    assert send(client, update(2)) == gap
    assert send(client, update(1, session="another")) == gap
    assert send(client, update(1)) == (204, None)
    assert send(client, update(1)) == gap
    assert send(client, update(0, session="another")) == (204, None)
    assert send(client, update(2)) == gap
    assert send(client, update(1, session="another")) == (204, None)


def test_a_second_follower_is_refused_while_the_first_sends(settings: Settings) -> None:
    receiver = Receiver(settings)
    other = replace(update(0), sender="nas2:/run/history")
    receiver.take(bytes(update(0).to_stream()))
    assert refused(receiver, bytes(other.to_stream())) == "other_follower"
    receiver.take(bytes(update(1).to_stream()))
    receiver.take(bytes(update(2, state="stopped").to_stream()))
    receiver.take(bytes(other.to_stream()))
    receiver.take(bytes(update(1, state="stopped").to_stream()))
    silent = Receiver(settings.model_copy(update={"history_age": 0.0}))
    silent.take(bytes(update(0).to_stream()))
    silent.take(bytes(other.to_stream()))


def test_a_follower_retries_while_another_process_writes(settings: Settings) -> None:
    receiver, stream = Receiver(settings), bytes(update(0).to_stream())
    writer = SharedHistoryWriter(path_of(settings), 100, 100, "0.1.0")
    assert refused(receiver, stream) == "history_locked"
    del writer
    receiver.take(stream)
    assert not is_free(settings)


def test_a_worker_releases_the_file_when_its_follower_stops_or_is_silent(
    settings: Settings,
) -> None:
    receiver = Receiver(settings)
    receiver.take(bytes(update(0).to_stream()))
    receiver.release_if_silent()
    assert not is_free(settings)
    receiver.take(bytes(update(1, state="stopped").to_stream()))
    assert is_free(settings)
    status = SharedHistory(path_of(settings), 60.0, 60.0, 1.0).status()
    assert status["why"] == "stopped"
    silent = Receiver(settings.model_copy(update={"history_age": 0.0}))
    silent.take(bytes(update(0).to_stream()))
    silent.release_if_silent()
    assert is_free(settings)
    assert refused(silent, bytes(update(1).to_stream())) == "history_gap"


def test_a_service_notices_a_silent_follower(
    settings: Settings,
    served: Callable[..., Any],
    publish: Callable[..., str],
) -> None:
    publish(settings.registry)
    with served(settings.model_copy(update={"history_age": 0.01})) as client:
        assert send(client, update(0)) == (204, None)
        assert eventually(lambda: is_free(settings))


def test_a_history_that_cannot_be_written_is_an_error(settings: Settings) -> None:
    path_of(settings).parent.chmod(0o777)
    receiver = Receiver(settings)
    assert refused(receiver, bytes(update(0).to_stream())) == "no_history"
    assert refused(receiver, bytes(update(1).to_stream())) == "history_gap"


def test_every_damaged_update_is_an_error(settings: Settings) -> None:
    receiver = Receiver(settings)
    sound = bytes(update(0, sent=changes()).to_stream())
    random, types = np.random.default_rng(2), set()
    for place in random.choice(len(sound), 300, replace=False):
        damaged = bytearray(sound)
        damaged[place] ^= 1 << random.integers(8)
        try:
            receiver.take(bytes(damaged))
        except ApiError as error:
            types.add(error.type)
    assert types >= {"invalid_arrow", "other_format"}
    assert types <= {"invalid_arrow", "other_format", "history_gap", "other_follower"}
    assert refused(receiver, b"") == refused(receiver, b"\0" * 1000) == "invalid_arrow"


def test_thresholds_are_stored_beside_the_copy_for_all_workers(settings: Settings) -> None:
    receiver = Receiver(settings)
    place = thresholds.beside(path_of(settings))
    first, second = (
        MovedThresholds(version="v", kind="forest", bound=0.01, clock=clock, thresholds=[])
        for clock in (1, 2)
    )
    thresholds.write(place, first)  # of an earlier follower
    receiver.take(bytes(update(0, whole=False).to_stream()))
    assert thresholds.read(place) == first
    receiver.take(bytes(update(1).to_stream()))
    assert thresholds.read(place) is None
    receiver.take(bytes(update(2, thresholds=first.model_dump_json()).to_stream()))
    receiver.take(bytes(update(3).to_stream()))
    assert thresholds.read(place) == first
    receiver.take(bytes(update(4, thresholds=second.model_dump_json()).to_stream()))
    assert thresholds.read(place) == second
    assert refused(receiver, bytes(update(5, thresholds="{}").to_stream())) == "invalid_request"
    receiver.take(bytes(update(5).to_stream()))
    assert thresholds.read(place) == second, "refused updates do not count"


def wrong_thresholds(version: str, bound: float, keys: list[str]) -> Iterator[tuple[str, str]]:
    """Yield invalid thresholds for a version, in JSON, and the place of the fault."""
    usual = {"told": "nothing", "calibrated": None, "sum": 0, "score": 0.0}
    counts = {"outcomes": 0, "false_positives": 0}
    rows = [{"predicate": key, **usual, **counts} for key in keys]
    head = {"version": version, "kind": "forest", "bound": bound, "clock": 5}
    row = rows[0]
    for place, changed in {
        "thresholds.thresholds.0.outcomes": {"thresholds": rows},
        "thresholds.thresholds.0.predicate": {"thresholds": [row | {"predicate": "unknown"}]},
        "thresholds": {"thresholds": [row, row]},
        "thresholds.bound": {"bound": bound / 2, "thresholds": []},
        "thresholds.thresholds": {
            "thresholds": [row | {"predicate": f"p{n}"} for n in range(2000)]
        },
        "thresholds.thresholds.0.false_positives": {
            "thresholds": [row | {"outcomes": 10**6, "false_positives": 10**6}]
        },
    }.items():
        yield json.dumps(head | changed), place
    for member in ("outcomes", "false_positives", "sum", "score"):
        for value in ("NaN", "Infinity", "-1", "1" + "0" * 400, "true"):
            written = json.dumps(head | {"thresholds": [row | {member: "HERE"}]})
            yield written.replace('"HERE"', value), f"thresholds.thresholds.0.{member}"
    yield json.dumps(head | {"bound": "HERE"}).replace('"HERE"', "NaN"), "thresholds.bound"


def test_thresholds_that_contradict_their_counts_are_refused_with_the_place(
    client: httpx.Client, settings: Settings
) -> None:
    asked = {"name": "a.lock"}
    before = client.post("/v1/predictions", json=asked).json()
    version, keys = before["model"], list(before["prediction"]["predicates"])
    send(client, update(0))
    headers = {"content-type": MEDIA_TYPE}
    for written, place in wrong_thresholds(version, 0.01, keys):
        stream = bytes(update(1, thresholds=written).to_stream())
        response = client.post("/v1/history", content=stream, headers=headers)
        error = response.json()["error"]
        assert (response.status_code, error["type"]) == (422, "invalid_request"), written
        assert error["field"] == place
    assert not thresholds.beside(path_of(settings)).exists()
    assert send(client, update(1)) == (204, None), "no part of them was applied"
    assert client.get("/metrics").status_code == client.get("/").status_code == 200
    after = client.post("/v1/predictions", json=asked).json()
    assert after["prediction"]["predicates"] == before["prediction"]["predicates"]


def test_a_truncated_history_ends_no_worker_and_is_sent_again(
    client: httpx.Client, settings: Settings
) -> None:
    assert send(client, update(0, sent=changes())) == (204, None)
    assert eventually(lambda: why(client) is None)
    os.truncate(path_of(settings), 100)
    assert why(client) in ("damaged", "absent")
    assert send(client, update(1, sent=changes())) == (503, "no_history")
    assert send(client, update(0, sent=changes())) == (204, None)
    assert eventually(lambda: why(client) is None)


def test_a_stream_that_is_compressed_is_refused(settings: Settings) -> None:
    with pa.ipc.open_stream(update(0, sent=changes()).to_stream()) as reader:
        (row,) = reader
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, row.schema, options=options) as writer:
        writer.write_batch(row)
    with pytest.raises(ApiError, match="compressed"):
        Receiver(settings).take(bytes(sink.getvalue()))


def test_a_copy_has_the_capacity_of_the_settings(settings: Settings) -> None:
    receiver = Receiver(settings.model_copy(update={"history_directories": 1}))
    _, records, _ = changes().to_arrow()
    rows = [
        {"key": key << 40, "directory": 1, "shape": None, "used": key} for key in range(1, 1001)
    ]
    directories = pa.RecordBatch.from_pylist(rows, changes().to_arrow()[2].schema)
    many = type(changes()).from_arrow(pa.array([], pa.uint64()), records, directories)
    receiver.take(bytes(update(0, sent=many).to_stream()))
    status = SharedHistory(path_of(settings), 60.0, 60.0, 1.0).status()
    assert 0 < status["aliases"] < 100
    assert status["aliases"] + status["aliases_gave_way"] >= 1000


def test_a_service_without_receive_refuses_updates(
    settings: Settings, served: Callable[..., Any], publish: Callable[..., str]
) -> None:
    publish(settings.registry)
    with served(settings.model_copy(update={"receive": False})) as client:
        assert send(client, update(0)) == (404, "not_receiving")


def test_updates_need_a_token_with_the_scope_follow(
    settings: Settings, served: Callable[..., Any], publish: Callable[..., str], tmp_path: Path
) -> None:
    publish(settings.registry)
    file = tmp_path / "tokens.json"
    own = tokens.add(file, "follower", ["follow"])
    others = tokens.add(file, "others", [scope for scope in tokens.SCOPES if scope != "follow"])
    with served(settings.model_copy(update={"tokens": file})) as client:
        assert send(client, update(0)) == (401, "unauthorized")
        client.headers["authorization"] = f"Bearer {others}"
        assert send(client, update(0)) == (403, "forbidden")
        client.headers["authorization"] = f"Bearer {own}"
        assert send(client, update(0)) == (204, None)
        assert client.post("/v1/predictions", json={"name": "a"}).status_code == 403


def test_updates_from_other_hosts_pages_are_refused(client: httpx.Client) -> None:
    client.headers["origin"] = "https://evil.example"
    assert send(client, update(0)) == (403, "foreign_origin")
    del client.headers["origin"]
    client.headers["host"] = "evil.example"
    assert send(client, update(0)) == (421, "unknown_host")
    response = client.post("/v1/history", content=b"", headers={"host": "localhost"})
    assert response.status_code == 415


@pytest.mark.parametrize("others", [{}, {"history": "h", "follow": "f", "followed": "g"}])
def test_receiving_needs_a_file_that_no_follower_here_writes(others: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="receive: expected history, too, and not follow"):
        Settings.model_validate({"receive": True, **others})


def test_a_path_is_sent_as_a_hash_that_finds_it(client: httpx.Client) -> None:
    assert send(client, update(0, sent=changes())) == (204, None)
    assert eventually(lambda: why(client) is None)
    asked = {"name": "a", "uid": 1, "directory_path": PATH.decode()}
    found = client.post("/v1/predictions", json=asked)
    assert found.json()["prediction"]["told"] == "directory"
