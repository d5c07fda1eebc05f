from __future__ import annotations

import json
from base64 import b64encode
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from birthmark.features import HISTORY_BYTES
from birthmark.serving.client.names import written
from birthmark.serving.messages.requests import MANY, FileRequest, body_schema, parse

KNOWN = ("dir_name", "mode", "uid", "gid", "client", "time", "history")


def one(**members: Any) -> FileRequest:
    file = parse(json.dumps({"name": "a"} | members).encode())
    assert isinstance(file, FileRequest)
    return file


@pytest.mark.parametrize(
    ("member", "text", "name"),
    [
        ("name", "prediction.tex", b"prediction.tex"),
        ("name", "café.txt", b"caf\xc3\xa9.txt"),
        ("name", "100%", b"100%"),
        ("name_base64", "Y2Fm6S50eHQ=", b"caf\xe9.txt"),
        ("name_percent", "caf%E9.txt", b"caf\xe9.txt"),
        ("name_percent", "caf%e9+%25", b"caf\xe9+%"),
        ("name_percent", "é", b"\xc3\xa9"),
    ],
)
def test_a_name_comes_as_text_or_as_bytes_in_base64_or_percent_form(
    member: str, text: str, name: bytes
) -> None:
    file = parse(json.dumps({member: text}).encode())
    assert isinstance(file, FileRequest)
    assert file.create()["name"] == name
    assert file.echo() == {member: text}


names = st.binary(min_size=1, max_size=1024).filter(lambda n: b"/" not in n and b"\0" not in n)


@given(names)
def test_every_name_that_a_file_system_allows_arrives_as_it_was_written(name: bytes) -> None:
    for members in (written("name", name), {"name_base64": b64encode(name).decode()}):
        file = parse(json.dumps(members).encode())
        assert isinstance(file, FileRequest)
        assert file.create()["name"] == name


def test_what_is_left_out_of_a_request_is_unknown() -> None:
    assert one().create() == {"name": b"a", **dict.fromkeys(KNOWN)}


def test_a_request_says_what_is_known_at_create() -> None:
    known = {"directory_percent": "Fran%E7ois", "mode": "0644", "uid": 0, "gid": 2**32 - 1}
    known |= {"client": "10.0.0.7", "time": "2026-11-21T05:44:00+01:00"}
    known |= {"history": b64encode(bytes(range(HISTORY_BYTES))).decode()}
    assert one(**known).create() == {
        "name": b"a",
        "dir_name": b"Fran\xe7ois",
        "mode": 0o644,
        "uid": 0,
        "gid": 2**32 - 1,
        "client": "10.0.0.7",
        "time": datetime(2026, 11, 21, 4, 44, tzinfo=UTC),
        "history": bytes(range(HISTORY_BYTES)),
    }


@pytest.mark.parametrize(
    ("mode", "bits"), [("0644", 0o644), ("644", 0o644), ("07777", 0o7777), (420, 0o644), (0, 0)]
)
def test_a_mode_is_octal_in_a_string_and_decimal_in_a_number(mode: str | int, bits: int) -> None:
    assert one(mode=mode).create()["mode"] == bits


@pytest.mark.parametrize(
    "body",
    [
        {"client": ""},
        {"time": "2026-11-21T05:44:00"},
        {"time": 1},
        {"history": "AAAA"},
        {"history": "*"},
        {"mode": "0888"},
        {"mode": "0o644"},
        {"mode": ""},
        {"mode": "-1"},
        {"mode": "10000"},
        {"mode": 0o10000},
        {"mode": -1},
        {"mode": 420.5},
        {"mode": True},
        {"uid": -1},
        {"uid": 2**32},
        {"uid": "0"},
        {"gid": 1.5},
        {"name": ""},
        {"name": "a/b"},
        {"name": "a\0"},
        {"name": "a" * 1025},
        {"name": "é" * 513},
        {"name": 5},
        {"name": None},
        {"name_base64": "YQ=="},
        {"name": None, "name_base64": "YQ"},
        {"name": None, "name_base64": "Y Q=="},
        {"name": None, "name_base64": "é"},
        {"name": None, "name_base64": ""},
        {"name": None, "name_base64": "Lw=="},
        {"name": None, "name_percent": "%"},
        {"name": None, "name_percent": "%4"},
        {"name": None, "name_percent": "%zz"},
        {"name": None, "name_percent": "a%2Fb"},
        {"directory": "/home/u1"},
        {"directory": "u1", "directory_base64": "dTE="},
        {"size": 5},
    ],
)
def test_what_is_no_such_file_is_refused(body: dict[str, Any]) -> None:
    one()
    with pytest.raises(ValidationError):
        one(**body)


def test_a_name_may_be_as_long_as_1024_bytes() -> None:
    assert one(name="é" * 512).create()["name"] == "é".encode() * 512


def test_a_list_of_files_is_told_from_one_file_and_keeps_its_order() -> None:
    files = parse(b' \n[{"name": "b"}, {"name": "a"}]')
    assert isinstance(files, list)
    assert [file.create()["name"] for file in files] == [b"b", b"a"]
    assert parse(b"[]") == []


def test_a_list_holds_at_most_ten_thousand_files() -> None:
    files = [{"name": "a"}] * MANY
    assert len(parse(json.dumps(files).encode())) == MANY
    with pytest.raises(ValidationError, match="10000"):
        parse(json.dumps([*files, {"name": "a"}]).encode())


@given(st.binary())
def test_any_bytes_are_files_or_get_the_one_error(body: bytes) -> None:
    with suppress(ValidationError):
        parse(body)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_any_json_is_files_or_gets_the_one_error(value: Any) -> None:
    with suppress(ValidationError):
        parse(json.dumps([{"name": value, "mode": value}]).encode())


def test_the_description_of_the_body_lists_every_member_with_its_meaning() -> None:
    schema = body_schema()["requestBody"]["content"]["application/json"]["schema"]
    properties = schema["anyOf"][0]["properties"]
    assert set(properties) == set(FileRequest.model_fields)
    assert all(member["description"] for member in properties.values())
