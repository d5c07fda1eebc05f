"""A follower sends a copy of its live history, whatever happens to the service."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data.common.host import host_name
from birthmark.data.follow import beside, sending, updates
from birthmark.data.follow.sending import Sender
from birthmark.data.follow.updates import Report, Update
from birthmark.data.settings import Following
from birthmark_native import HistoryChanges
from tests.builders.updates import CLOCK
from tests.waiting import eventually

FOLLOWING = Report(CLOCK, 0.5, 0.0, "following")


def removal(*keys: int) -> HistoryChanges:
    """Return changes that are identified by the keys that they remove."""
    _, records, directories = HistoryChanges().to_arrow()
    return HistoryChanges.from_arrow(pa.array(keys, pa.uint64()), records, directories)


def keys(update: Update) -> list[int]:
    found: list[int] = update.changes.to_arrow()[0].to_pylist()
    return found


class Service:
    """A service that takes updates, and answers with the next of ``errors``, if any."""

    def __init__(self) -> None:
        self.take_finished: list[Update] = []
        self.refused: list[Update] = []
        self.headers: list[dict[str, str]] = []
        self.errors: list[tuple[int, str]] = []
        self.open = threading.Event()
        self.open.set()

    def answer(self, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        self.open.wait()
        self.headers.append(headers)
        update = updates.read(body)
        if not self.errors:
            self.take_finished.append(update)
            return 204, b""
        self.refused.append(update)
        status, type = self.errors.pop(0)
        return status, json.dumps({"error": {"type": type, "message": f"it is {type}"}}).encode()


@pytest.fixture
def service() -> Iterator[tuple[Service, str]]:
    """Yield a service, and its address."""
    found = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            assert self.path == updates.PATH
            body = self.rfile.read(int(self.headers["content-length"]))
            status, answer = found.answer(body, {n.lower(): v for n, v in self.headers.items()})
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield found, f"http://127.0.0.1:{server.server_address[1]}"
        found.open.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def sender(
    service: tuple[Service, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sender]:
    monkeypatch.setattr(sending, "OVERLOADED", 0.01)
    (tmp_path / "token").write_text("secret\n")
    options = {
        "send": service[1],
        "send_token": tmp_path / "token",
        "history": tmp_path / "history",
    }
    sender = Sender(Following.model_validate(options))
    yield sender
    service[0].open.set()
    sender.close()


def begun(sender: Sender, *everything: int) -> bool:
    """Send until everything was requested; return whether it was."""
    asked = threading.Event()

    def whole() -> HistoryChanges:
        asked.set()
        return removal(*everything)

    def was_taken() -> bool:
        sender.take(removal(99), FOLLOWING, whole)
        return asked.is_set()

    return eventually(was_taken)


def never() -> HistoryChanges:
    raise AssertionError("everything was there already")


def test_a_session_begins_empty_then_has_everything_then_what_changes(
    sender: Sender, service: tuple[Service, str]
) -> None:
    assert begun(sender, 1, 2)
    assert eventually(lambda: len(service[0].take_finished) >= 2)
    sender.take(removal(3), FOLLOWING, never)
    assert eventually(lambda: [3] in map(keys, service[0].take_finished))
    first, whole, *changes = service[0].take_finished
    assert (first.number, first.whole, keys(first)) == (0, False, [])
    assert first.report.state == "starting"
    assert (whole.number, whole.whole, keys(whole)) == (1, True, [1, 2])
    assert whole.report.clock == CLOCK
    assert whole.report.lag >= 0.5
    assert [each.number for each in changes] == list(range(2, 2 + len(changes)))
    assert {each.session for each in service[0].take_finished} == {first.session}
    assert service[0].headers[0]["authorization"] == "Bearer secret"
    assert service[0].headers[0]["content-type"] == updates.MEDIA_TYPE
    assert (sender.sent.following, sender.sent.copies, sender.sent.failures) == (True, 1, 0)
    assert eventually(lambda: sender.sent.updates == len(service[0].take_finished))


@pytest.mark.parametrize("host", ["", "a/\udcff\n", "x" * 255])
def test_a_follower_names_its_host_and_its_history_whatever_they_are_called(
    host: str, service: tuple[Service, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    history = tmp_path.joinpath(*["d" * 100] * 3, "\udcfe", "history")
    sender = Sender(Following.model_validate({"send": service[1], "history": history}))
    assert eventually(lambda: service[0].take_finished)
    sender.close()
    name = service[0].take_finished[0].sender
    assert name.isprintable()
    assert name.startswith(f"{host_name()}:")
    assert name.endswith("/\\xfe/history")


def test_thresholds_are_sent_once_and_when_they_have_moved(
    sender: Sender, service: tuple[Service, str], tmp_path: Path
) -> None:
    def thresholds_sent() -> list[str]:
        return [each.thresholds for each in service[0].take_finished if each.thresholds is not None]

    place = beside.thresholds(tmp_path / "history")
    assert begun(sender, 1)
    assert eventually(lambda: sender.sent.following)
    assert thresholds_sent() == []
    for text in ("first", "second"):
        place.write_text(text)
        for _ in range(3):
            take_finished = sender.sent.updates
            sender.take(removal(2), FOLLOWING, never)
            assert eventually(
                lambda take_finished=take_finished: sender.sent.updates > take_finished
            )
    assert thresholds_sent() == ["first", "second"]
    service[0].errors.append((409, "history_gap"))
    sender.take(removal(2), FOLLOWING, never)
    assert eventually(lambda: sender.sent.failures == 1)
    assert begun(sender, 1)
    assert eventually(lambda: thresholds_sent() == ["first", "second", "second"])


def test_the_history_is_sent_in_parts_and_complete_with_the_last(
    sender: Sender, service: tuple[Service, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "MOST_ROWS", 2)
    assert begun(sender, 1, 2, 3, 4, 5)
    assert eventually(lambda: any(each.whole for each in service[0].take_finished))
    parts = [(keys(each), each.whole) for each in service[0].take_finished[1:4]]
    assert parts == [([1, 2], False), ([3, 4], False), ([5], True)]


def test_after_an_error_another_session_sends_everything_again(
    sender: Sender, service: tuple[Service, str], caplog: pytest.LogCaptureFixture
) -> None:
    assert begun(sender, 1)
    assert eventually(lambda: sender.sent.following)
    service[0].errors.append((409, "history_gap"))
    sender.take(removal(2), FOLLOWING, never)
    assert eventually(lambda: sender.sent.failures == 1)
    assert sender.sent.why == "409: it is history_gap"
    assert begun(sender, 1, 2)
    assert eventually(lambda: sender.sent.following)
    assert (sender.sent.copies, sender.sent.why) == (2, None)
    again = [
        each
        for each in service[0].take_finished
        if each.session != service[0].take_finished[0].session
    ]
    assert [(each.number, keys(each)) for each in again[:2]] == [(0, []), (1, [1, 2])]
    assert "it is history_gap" in caplog.text


def test_an_update_that_found_no_room_is_sent_again_and_nothing_is_missing(
    sender: Sender, service: tuple[Service, str]
) -> None:
    assert begun(sender, 1)
    assert eventually(lambda: sender.sent.following)
    service[0].errors += [(503, "overloaded"), (503, "overloaded")]
    sender.take(removal(2), FOLLOWING, never)
    assert eventually(lambda: [2] in map(keys, service[0].take_finished))
    assert [keys(each) for each in service[0].refused] == [[2], [2]]
    assert (sender.sent.copies, sender.sent.failures) == (1, 0)


def test_nobody_waits_for_a_service_that_hangs_and_changes_become_one(
    sender: Sender, service: tuple[Service, str]
) -> None:
    assert begun(sender, 1)
    assert eventually(lambda: sender.sent.following)
    service[0].open.clear()
    sender.take(removal(2), FOLLOWING, never)
    for key in range(3, 50):
        sender.take(removal(key), FOLLOWING, never)  # returns, though there is no answer
    service[0].open.set()

    def seen() -> set[int]:
        return {key for each in service[0].take_finished for key in keys(each)}

    assert eventually(lambda: seen() >= set(range(1, 50)))
    assert sender.sent.copies == 1
    assert len(service[0].take_finished) < 40


def test_the_last_update_is_sent_before_it_ends(
    sender: Sender, service: tuple[Service, str]
) -> None:
    assert begun(sender, 1)
    assert eventually(lambda: sender.sent.following)
    sender.take(removal(7), Report(CLOCK, 0.0, 0.0, "stopped"), never)
    sender.close()
    last = service[0].take_finished[-1]
    assert (keys(last), last.report.state) == ([7], "stopped")


def test_where_nobody_listens_sessions_fail_and_nothing_piles_up(tmp_path: Path) -> None:
    settings = {"send": "http://127.0.0.1:1", "history": tmp_path / "history"}
    sender = Sender(Following.model_validate(settings))
    assert eventually(lambda: sender.sent.failures > 1)
    for key in range(10):
        sender.take(removal(key), FOLLOWING, never)
    sender.close()
    assert not sender.sent.following
    assert sender.sent.updates == 0
    assert "refused" in (sender.sent.why or "")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"send": "nas1:8325"}, ValueError, "expected http://HOST:PORT or https://HOST:PORT"),
        ({"send": "http://"}, ValueError, "expected http://HOST:PORT"),
        ({"send_token": "absent"}, FileNotFoundError, "absent"),
        ({"send_token": "two lines"}, ValueError, "two lines: expected a token"),
        ({"send": "https://nas1", "send_certificates": "absent"}, ValueError, "absent: expected"),
    ],
)
def test_an_invalid_destination_is_an_error_at_once(
    tmp_path: Path,
    options: dict[str, str],
    error: type[Exception],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two lines").write_text("one\ntwo\n")
    settings = {"send": "http://127.0.0.1:1", "history": tmp_path / "history"} | options
    with pytest.raises(error, match=words):
        Sender(Following.model_validate(settings))


def test_sending_needs_a_history(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="send: expected history, too"):
        Following(send="http://nas1:8325")
