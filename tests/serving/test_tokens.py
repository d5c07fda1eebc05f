from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from birthmark.commands.tokens import app
from serving import tokens
from serving.guard import CHALLENGE
from serving.server import run
from serving.settings import Settings

FILE = {"name": "a.lock"}


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
    kept = json.loads(file.read_text())
    assert [each["name"] for each in kept] == ["nas0", "nas1", "nas2"]
    assert kept[0]["scopes"] == ["predict", "read"]
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


def test_who_shows_no_token_or_an_unknown_one_gets_401(client: httpx.Client) -> None:
    nonsense = [{}, bearer("x"), {"authorization": "Basic %%"}, {"authorization": "x"}]
    for headers in nonsense:
        for method, path in [("POST", "/v1/predictions"), ("GET", "/v1/model"), ("GET", "/nope")]:
            response = client.request(method, path, headers=headers)
            assert response.status_code == 401
            assert response.json()["error"]["type"] == "unauthorized"
            assert response.headers["www-authenticate"] == CHALLENGE


@pytest.mark.parametrize("scope", tokens.SCOPES)
def test_a_token_opens_what_its_scope_says_and_nothing_else(
    client: httpx.Client, file: Path, scope: tokens.Scope, eventually: Callable[..., bool]
) -> None:
    token = tokens.add(file, "someone", [scope])
    headers = bearer(token)
    assert eventually(lambda: client.get("/v1/model", headers=headers).status_code != 401)
    asked = {
        "predict": client.post("/v1/predictions", json=FILE, headers=headers),
        "read": client.get("/v1/model", headers=headers),
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


def test_a_token_that_is_taken_back_opens_nothing_and_neither_does_a_file_that_is_gone(
    client: httpx.Client, file: Path, eventually: Callable[..., bool]
) -> None:
    first, second = (tokens.add(file, name, ["read"]) for name in ("first", "second"))

    def status(token: str) -> int:
        return client.get("/v1/model", headers=bearer(token)).status_code

    assert eventually(lambda: (status(first), status(second)) == (200, 200))
    tokens.remove(file, "first")
    assert eventually(lambda: (status(first), status(second)) == (401, 200))
    file.write_text("no tokens")  # whose mistake this is, is told by the log
    assert not eventually(lambda: status(second) != 200, 1.5)
    file.unlink()
    assert eventually(lambda: status(second) == 401)


def test_the_command_adds_lists_and_removes_and_shows_a_token_once(file: Path) -> None:
    def command(*arguments: str) -> Any:
        return CliRunner().invoke(app, [*arguments, "--tokens", str(file)])

    token = command("add", "nas1", "--scope", "read", "--scope", "predict").stdout.strip()
    assert tokens.Tokens(file).scopes(f"Bearer {token}".encode()) == ["predict", "read"]
    listed = command("list", "--json").stdout
    assert json.loads(listed) == [{"name": "nas1", "scopes": ["predict", "read"]}]
    assert "nas1" in command("list").stdout
    assert token not in listed
    twice = command("add", "nas1", "--scope", "read")
    assert "already" in str(twice.exception)
    assert command("add", "nas2", "--scope", "all").exit_code == 2
    assert command("remove", "nas1").exit_code == 0
    assert tokens.Tokens(file).scopes(f"Bearer {token}".encode()) is None
    assert "expected a token 'nas1'" in str(command("remove", "nas1").exception)


def test_without_tokens_the_service_listens_to_its_own_host_alone_unless_a_flag_says_so(
    file: Path, tmp_path: Path
) -> None:
    for host in ("0.0.0.0", "::"):
        with pytest.raises(ValueError, match=r"--tokens FILE, or --allow-open"):
            run(Settings(host=host, port=0, registry=tmp_path), print)
