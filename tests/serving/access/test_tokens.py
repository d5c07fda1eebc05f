from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from birthmark.commands.tokens import app
from birthmark.serving.access import tokens
from birthmark.serving.server.run import run
from birthmark.serving.settings import Settings

_REALM = 'realm="birthmark"'
CHALLENGE = f'Bearer {_REALM}, Basic {_REALM}, charset="UTF-8"'
"""Both ways to show a token (RFC 9110 section 11.6.1)."""

FILE = {"name": "a.lock"}
REPORT = {"host": "nas1", "device": "/dev/birthmark", "counters": {"asked": 1}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


@pytest.fixture
def client(
    served: Callable[..., Any],
    settings_for: Callable[..., Settings],
    publish: Callable[..., str],
    tmp_path: Path,
    file: Path,
) -> Iterator[httpx.Client]:
    publish(tmp_path / "registry")
    tokens.add(file, "nobody", ["publish"])
    with served(settings_for(tmp_path / "registry", tokens=file)) as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_a_token_is_kept_as_its_hash_alone_and_is_256_random_bits(file: Path) -> None:
    made = {tokens.add(file, f"nas{n}", ["read", "predict"]) for n in range(3)}
    assert len(made) == 3
    assert all(len(token) == 43 for token in made)  # base64 of 32 bytes
    loaded = json.loads(file.read_text())
    assert [each["name"] for each in loaded] == ["nas0", "nas1", "nas2"]
    assert loaded[0]["scopes"] == ["predict", "read"]
    assert not any(token in file.read_text() for token in made)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "expected a list of tokens"),
        ('[{"name": "a", "scopes": ["all"], "sha256": "00"}]', r"\[0\]\[scopes\]\[0\]"),
        ('[{"name": "a", "scopes": ["read"], "sha256": "secret"}]', r"\[0\]\[sha256\]"),
    ],
)
def test_a_file_that_holds_no_tokens_is_an_error_that_names_the_place(
    file: Path, content: str, words: str
) -> None:
    file.write_text(content)
    with pytest.raises(ValueError, match=f"{file.name}.*{words}|{words}") as caught:
        tokens.read(file)
    assert str(file) in str(caught.value)
    with pytest.raises(ValueError, match="expected a list of tokens"):
        run(Settings(tokens=file), print)


def test_an_invalid_name_is_refused_with_a_reason(file: Path) -> None:
    with pytest.raises(ValueError, match=r"^'na s/1': expected a token's name: 1 to 64 of"):
        tokens.add(file, "na s/1", ["read"])


def test_a_request_without_a_valid_token_gets_401(client: httpx.Client) -> None:
    nonsense = [{}, bearer("x"), {"authorization": "Basic %%"}, {"authorization": "x"}]
    for headers in nonsense:
        for method, path in [("POST", "/v1/predictions"), ("GET", "/v1/model"), ("GET", "/nope")]:
            response = client.request(method, path, headers=headers)
            assert response.status_code == 401
            assert response.json()["error"]["type"] == "unauthorized"
            assert response.headers["www-authenticate"] == CHALLENGE


@pytest.mark.parametrize("scope", tokens.SCOPES)
def test_a_token_opens_only_the_paths_of_its_scopes(
    client: httpx.Client, file: Path, scope: tokens.Scope, eventually: Callable[..., bool]
) -> None:
    token = tokens.add(file, "someone", [scope])
    headers = bearer(token)
    assert eventually(lambda: client.get("/v1/model", headers=headers).status_code != 401)
    asked = {
        "predict": client.post("/v1/predictions", json=FILE, headers=headers),
        "read": client.get("/v1/model", headers=headers),
        "report": client.post("/v1/hints/report", json=REPORT, headers=headers),
        "follow": client.post(
            "/v1/history",
            content=b"",
            headers=headers | {"content-type": "application/vnd.apache.arrow.stream"},
        ),
        "publish": client.put("/v1/model", json={"version": "x"}, headers=headers),
    }
    for needed, response in asked.items():
        if needed == scope:
            assert response.status_code not in (401, 403)
            continue
        assert response.status_code == 403
        assert response.json()["error"]["type"] == "forbidden"
        challenge = f'Bearer realm="birthmark", error="insufficient_scope", scope="{needed}"'
        assert response.headers["www-authenticate"] == challenge


def test_a_browser_shows_the_token_as_a_password_under_any_name(
    client: httpx.Client, file: Path, eventually: Callable[..., bool]
) -> None:
    token = tokens.add(file, "someone", ["read"])
    assert eventually(lambda: client.get("/v1/model", auth=("who", token)).status_code == 200)
    upper = {"authorization": "BASIC " + b64encode(f":{token}".encode()).decode()}
    assert client.get("/metrics", headers=upper).status_code == 200


def test_probes_need_no_token(client: httpx.Client) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200


def test_a_removed_token_and_a_removed_file_open_nothing(
    client: httpx.Client, file: Path, eventually: Callable[..., bool]
) -> None:
    first, second = (tokens.add(file, name, ["read"]) for name in ("first", "second"))

    def status(token: str) -> int:
        return client.get("/v1/model", headers=bearer(token)).status_code

    assert eventually(lambda: (status(first), status(second)) == (200, 200))
    tokens.remove(file, "first")
    assert eventually(lambda: (status(first), status(second)) == (401, 200))
    file.write_text("no tokens")  # an administrator's mistake, which the log reports
    assert not eventually(lambda: status(second) != 200, 1.5)
    file.unlink()
    assert eventually(lambda: status(second) == 401)


def opens(loaded: tokens.Tokens, token: str) -> bool:
    """Return whether a token is valid after a refresh."""
    loaded.refresh()
    valid = loaded.valid()
    return valid is not None and found(valid, token) is not None


def found(valid: list[tokens.Token] | None, token: str) -> tokens.Token | None:
    """Return the token with a text."""
    digest = sha256(token.encode()).hexdigest()
    return next((each for each in valid or [] if each.sha256 == digest), None)


def test_a_file_that_could_not_be_read_once_is_read_again_though_it_does_not_change(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoked, valid = (tokens.add(file, name, ["read"]) for name in ("revoked", "kept"))
    os.utime(file, (1, 1))  # long ago, so that its identity shows whether it has changed
    reads: list[bool] = []
    loaded = tokens.Tokens(file, reads.append)
    tokens.remove(file, "revoked")
    os.utime(file, (2, 2))
    sound, failures = tokens.read_with_status, [OSError(5, "Input/output error")]

    def fail_once(path: Path, most: int) -> Any:
        if failures:
            raise failures.pop()
        return sound(path, most)

    monkeypatch.setattr(tokens, "read_with_status", fail_once)
    assert opens(loaded, revoked), "the tokens are as they were"
    assert not opens(loaded, revoked)
    assert opens(loaded, valid)
    assert reads == [True, False, True, True]


def test_a_file_that_is_replaced_while_it_is_read_is_read_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoked = tokens.add(file, "revoked", ["read"])
    os.utime(file, (1, 1))
    sound, changes = tokens.read_with_status, [lambda: tokens.remove(file, "revoked")]

    def change_meanwhile(path: Path, most: int) -> Any:
        found = sound(path, most)
        if changes:
            changes.pop()()
            os.utime(file, (1, 1))
        return found

    monkeypatch.setattr(tokens, "read_with_status", change_meanwhile)
    loaded = tokens.Tokens(file)
    assert not opens(loaded, revoked)


def test_while_the_file_cannot_be_read_tokens_stay_valid_for_a_minute(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    token = tokens.add(file, "nas1", ["read"])
    sound = file.read_bytes()
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    reads: list[bool] = []
    loaded = tokens.Tokens(file, reads.append)
    file.write_text("no tokens")
    for seconds in (1, 30, tokens.UNREAD_SECONDS):
        now[0] = 1000 + seconds
        assert opens(loaded, token)
    now[0] += 1
    loaded.refresh()
    assert loaded.valid() is None
    file.write_bytes(sound)
    now[0] += 1
    assert opens(loaded, token)
    assert reads == [True, *[False] * 4, True]
    lines = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert ["60 s at most" in line for line in lines] == [True, False]
    assert "no token is valid" in lines[1]


def test_an_unreadable_file_causes_503_and_sets_a_metric(
    client: httpx.Client,
    file: Path,
    eventually: Callable[..., bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    headers = bearer(tokens.add(file, "someone", ["read"]))
    assert eventually(lambda: client.get("/metrics", headers=headers).status_code == 200)
    assert "birthmark_tokens_read 1.0" in client.get("/metrics", headers=headers).text
    sound = file.read_bytes()
    file.write_text("no tokens")
    metric = "birthmark_tokens_read 0.0"
    assert eventually(lambda: metric in client.get("/metrics", headers=headers).text)
    with monkeypatch.context() as late:
        late.setattr(tokens, "UNREAD_SECONDS", 0.0)
        assert eventually(lambda: client.get("/metrics", headers=headers).status_code == 503)
        response = client.get("/metrics", headers=headers)
    assert (response.status_code, response.json()["error"]["type"]) == (503, "no_tokens")
    assert client.get("/healthz").status_code == 200
    file.write_bytes(sound)
    assert eventually(lambda: client.get("/metrics", headers=headers).status_code == 200)


def test_an_irregular_or_too_large_file_leaves_tokens_as_they_are(file: Path) -> None:
    token = tokens.add(file, "nas1", ["read"])
    loaded = tokens.Tokens(file)
    file.unlink()
    os.mkfifo(file)
    assert opens(loaded, token), "to open a FIFO would wait for a writer"
    file.unlink()
    with file.open("wb") as large:
        large.truncate(3 << 30)
    assert opens(loaded, token), "3 GB would not fit into memory"
    with pytest.raises(OSError, match=f"expected at most {tokens.MOST_BYTES:,} bytes"):
        tokens.read(file)


def test_requests_are_answered_while_the_file_cannot_be_read_at_all(
    client: httpx.Client, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, asked, done = tokens.add(file, "nas1", ["read"]), Event(), Event()

    def stall(path: Path, most: int) -> Any:
        asked.set()
        assert done.wait(60)
        raise OSError(5, "Input/output error")

    try:
        monkeypatch.setattr(tokens, "read_with_status", stall)
        assert asked.wait(60)
        status = client.get("/v1/model", headers=bearer(token)).status_code
        assert status == 401, "this token was not read yet"
    finally:
        done.set()


def test_the_file_keeps_its_mode_owner_and_group_and_a_new_one_is_private(
    file: Path,
) -> None:
    tokens.add(file, "first", ["read"])
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(file, 0, 12)
    before = file.stat()
    tokens.add(file, "second", ["read"])
    tokens.remove(file, "first")
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode, before.st_uid, before.st_gid
    )  # fmt: skip
    assert [token.name for token in tokens.read(file)] == ["second"]


def test_the_command_adds_lists_and_removes_and_shows_a_token_once(file: Path) -> None:
    def command(*arguments: str) -> Any:
        return CliRunner().invoke(app, [*arguments, "--tokens", str(file)])

    token = command("add", "nas1", "--scope", "read", "--scope", "predict").stdout.strip()
    added = found(tokens.Tokens(file).valid(), token)
    assert added is not None
    assert added.scopes == ["predict", "read"]
    listed = command("list", "--json").stdout
    assert json.loads(listed) == [{"name": "nas1", "scopes": ["predict", "read"]}]
    assert "nas1" in command("list").stdout
    assert token not in listed
    twice = command("add", "nas1", "--scope", "read")
    assert "already" in str(twice.exception)
    assert command("add", "nas2", "--scope", "all").exit_code == 2
    assert command("remove", "nas1").exit_code == 0
    assert found(tokens.Tokens(file).valid(), token) is None
    assert "expected a token 'nas1'" in str(command("remove", "nas1").exception)


def test_without_tokens_only_a_flag_allows_other_hosts(file: Path, tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::"):
        with pytest.raises(ValueError, match=r"--tokens FILE, or --allow-open"):
            run(Settings(host=host, port=0, registry=tmp_path), print)
