"""A service takes the live history of a follower on another host, and creates are told of it."""

from __future__ import annotations

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
from birthmark.training.control import thresholds
from birthmark.training.control.thresholds import MovedThresholds
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
        model="forest",  # which knows histories
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


def told(client: httpx.Client, update: Update) -> tuple[int, str | None]:
    """Tell a service of an update; return the status and the type of the error, if it is one."""
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
    """Tell whether another worker could write."""
    try:
        SharedHistoryWriter(path_of(settings), 100, 100, "0.1.0")
    except StateError:
        return False
    return True


def test_creates_are_told_once_a_copy_is_whole(client: httpx.Client, settings: Settings) -> None:
    asked = {"name": "a.lock", "uid": 1, "directory_handle": b64encode(HANDLE).decode()}
    assert told(client, update(0, whole=False, state="starting")) == (204, None)
    assert told(client, update(1, whole=False, told=changes(), state="starting")) == (204, None)
    assert why(client) == "absent"
    assert told(client, update(2)) == (204, None)
    assert eventually(lambda: why(client) is None)
    found = client.post("/v1/predictions", json=asked).json()
    assert (found["prediction"]["told"], found["live"]["why"]) == ("directory", None)
    status = SharedHistory(path_of(settings), 60.0, 60.0, 1.0).status()
    assert (status["follower"], status["aliases"], status["updates"]) == ("0.1.0", 2, 3)


def test_what_a_follower_says_of_itself_holds_for_its_copy(client: httpx.Client) -> None:
    for number, (state, lag, expected) in enumerate(
        [("starting", 0.0, "starting"), ("following", 60.0, "behind"), ("following", 0.0, None)]
    ):
        assert told(client, update(number, state=state, lag=lag)) == (204, None)
        assert eventually(lambda expected=expected: why(client) == expected)


def test_an_update_is_refused_unless_it_is_the_next_one(client: httpx.Client) -> None:
    gap = (409, "history_gap")
    assert told(client, update(1)) == gap
    assert told(client, update(0)) == (204, None)
    assert told(client, update(2)) == gap
    assert told(client, update(1, session="another")) == gap
    assert told(client, update(1)) == (204, None)
    assert told(client, update(1)) == gap
    assert told(client, update(0, session="another")) == (204, None)
    assert told(client, update(2)) == gap
    assert told(client, update(1, session="another")) == (204, None)


def test_a_second_follower_is_refused_while_the_first_is_heard(settings: Settings) -> None:
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


def test_where_another_process_writes_a_follower_is_to_try_again(settings: Settings) -> None:
    receiver, stream = Receiver(settings), bytes(update(0).to_stream())
    writer = SharedHistoryWriter(path_of(settings), 100, 100, "0.1.0")
    assert refused(receiver, stream) == "history_locked"
    del writer
    receiver.take(stream)
    assert not is_free(settings)


def test_a_worker_lets_go_when_its_follower_stops_or_is_silent(settings: Settings) -> None:
    receiver = Receiver(settings)
    receiver.take(bytes(update(0).to_stream()))
    receiver.let_go()
    assert not is_free(settings)
    receiver.take(bytes(update(1, state="stopped").to_stream()))
    assert is_free(settings)
    status = SharedHistory(path_of(settings), 60.0, 60.0, 1.0).status()
    assert status["why"] == "stopped"
    silent = Receiver(settings.model_copy(update={"history_age": 0.0}))
    silent.take(bytes(update(0).to_stream()))
    silent.let_go()
    assert is_free(settings)
    assert refused(silent, bytes(update(1).to_stream())) == "history_gap"


def test_a_service_looks_by_itself_whether_a_follower_is_silent(
    settings: Settings,
    served: Callable[..., Any],
    publish: Callable[..., str],
) -> None:
    publish(settings.registry)
    with served(settings.model_copy(update={"history_age": 0.01})) as client:
        assert told(client, update(0)) == (204, None)
        assert eventually(lambda: is_free(settings))


def test_a_history_that_cannot_be_kept_is_an_error_that_says_so(settings: Settings) -> None:
    path_of(settings).parent.chmod(0o777)
    receiver = Receiver(settings)
    assert refused(receiver, bytes(update(0).to_stream())) == "no_history"
    assert refused(receiver, bytes(update(1).to_stream())) == "history_gap"


def test_no_damage_to_an_update_is_more_than_an_error(settings: Settings) -> None:
    receiver = Receiver(settings)
    sound = bytes(update(0, told=changes()).to_stream())
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


def test_thresholds_are_kept_beside_the_copy_where_all_workers_look(settings: Settings) -> None:
    receiver = Receiver(settings)
    place = thresholds.beside(path_of(settings))
    first, second = (
        MovedThresholds(version="v", kind="forest", bound=0.01, clock=clock, thresholds=[])
        for clock in (1, 2)
    )
    thresholds.write(place, first)  # of a follower before
    receiver.take(bytes(update(0, whole=False).to_stream()))
    assert thresholds.read(place) == first
    receiver.take(bytes(update(1).to_stream()))
    assert thresholds.read(place) is None
    receiver.take(bytes(update(2, thresholds=first.model_dump_json()).to_stream()))
    receiver.take(bytes(update(3).to_stream()))
    assert thresholds.read(place) == first
    receiver.take(bytes(update(4, thresholds=second.model_dump_json()).to_stream()))
    assert thresholds.read(place) == second
    assert refused(receiver, bytes(update(5, thresholds="{}").to_stream())) == "invalid_arrow"


def test_a_stream_that_is_compressed_is_refused(settings: Settings) -> None:
    with pa.ipc.open_stream(update(0, told=changes()).to_stream()) as reader:
        (row,) = reader
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, row.schema, options=options) as writer:
        writer.write_batch(row)
    with pytest.raises(ApiError, match="compressed"):
        Receiver(settings).take(bytes(sink.getvalue()))


def test_a_copy_has_room_for_what_the_settings_say(settings: Settings) -> None:
    receiver = Receiver(settings.model_copy(update={"history_directories": 1}))
    _, records, _ = changes().to_arrow()
    rows = [
        {"key": key << 40, "directory": 1, "shape": None, "used": key} for key in range(1, 1001)
    ]
    directories = pa.RecordBatch.from_pylist(rows, changes().to_arrow()[2].schema)
    many = type(changes()).from_arrow(pa.array([], pa.uint64()), records, directories)
    receiver.take(bytes(update(0, told=many).to_stream()))
    status = SharedHistory(path_of(settings), 60.0, 60.0, 1.0).status()
    assert 0 < status["aliases"] < 100
    assert status["aliases"] + status["aliases_gave_way"] >= 1000


def test_a_service_that_does_not_receive_says_so(
    settings: Settings, served: Callable[..., Any], publish: Callable[..., str]
) -> None:
    publish(settings.registry)
    with served(settings.model_copy(update={"receive": False})) as client:
        assert told(client, update(0)) == (404, "not_receiving")


def test_only_a_token_for_it_opens_it(
    settings: Settings, served: Callable[..., Any], publish: Callable[..., str], tmp_path: Path
) -> None:
    publish(settings.registry)
    file = tmp_path / "tokens.json"
    own = tokens.add(file, "follower", ["follow"])
    others = tokens.add(file, "others", [scope for scope in tokens.SCOPES if scope != "follow"])
    with served(settings.model_copy(update={"tokens": file})) as client:
        assert told(client, update(0)) == (401, "unauthorized")
        client.headers["authorization"] = f"Bearer {others}"
        assert told(client, update(0)) == (403, "forbidden")
        client.headers["authorization"] = f"Bearer {own}"
        assert told(client, update(0)) == (204, None)
        assert client.post("/v1/predictions", json={"name": "a"}).status_code == 403


def test_no_page_of_another_host_can_send_one(client: httpx.Client) -> None:
    client.headers["origin"] = "https://evil.example"
    assert told(client, update(0)) == (403, "foreign_origin")
    del client.headers["origin"]
    client.headers["host"] = "evil.example"
    assert told(client, update(0)) == (421, "unknown_host")
    response = client.post("/v1/history", content=b"", headers={"host": "localhost"})
    assert response.status_code == 415


@pytest.mark.parametrize("others", [{}, {"history": "h", "follow": "f", "followed": "g"}])
def test_to_receive_needs_a_file_that_nobody_here_writes(others: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="receive: expected history, too, and not follow"):
        Settings.model_validate({"receive": True, **others})


def test_a_path_is_sent_as_a_hash_that_finds_it(client: httpx.Client) -> None:
    assert told(client, update(0, told=changes())) == (204, None)
    assert eventually(lambda: why(client) is None)
    asked = {"name": "a", "uid": 1, "directory_path": PATH.decode()}
    found = client.post("/v1/predictions", json=asked)
    assert found.json()["prediction"]["told"] == "directory"
