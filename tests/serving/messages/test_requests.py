from __future__ import annotations

import json
from base64 import b64encode
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.features import HISTORY_BYTES
from birthmark.serving.client.questions import written
from birthmark.serving.messages.requests import body_schema, parse
from birthmark_native import MEMBERS, MOST_FILES, InvalidRequestError

KNOWN = ("dir_name", "mode", "uid", "gid", "client", "time", "history")


def one(**members: Any) -> dict[str, Any]:
    """Return the attributes of a file in a request with these members."""
    return row(json.dumps({"name": "a"} | members).encode())


def row(body: bytes) -> dict[str, Any]:
    files = parse(body)
    assert not files.listed
    (known,) = files.creates.select(["name", *KNOWN]).to_pylist()
    return dict(known)


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
    files = parse(json.dumps({member: text}).encode())
    assert files.creates["name"].to_pylist() == [name]
    assert files.names == [{member: text}]


names = st.binary(min_size=1, max_size=1024).filter(lambda n: b"/" not in n and b"\0" not in n)


@given(names)
def test_every_name_that_a_file_system_allows_arrives_as_it_was_written(name: bytes) -> None:
    for members in (written("name", name), {"name_base64": b64encode(name).decode()}):
        assert row(json.dumps(members).encode())["name"] == name


def test_missing_members_are_unknown() -> None:
    assert one() == {"name": b"a", **dict.fromkeys(KNOWN)}


def test_a_request_has_the_attributes_known_at_create() -> None:
    known = {"directory_percent": "Fran%E7ois", "mode": "0644", "uid": 0, "gid": 2**32 - 1}
    known |= {"client": "10.0.0.7", "time": "2026-11-21T05:44:00+01:00"}
    known |= {"history": b64encode(bytes(range(HISTORY_BYTES))).decode()}
    assert one(**known) == {
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
    assert one(mode=mode)["mode"] == bits


def test_a_name_may_be_as_long_as_1024_bytes() -> None:
    assert one(name="é" * 512)["name"] == "é".encode() * 512
    for name in ("a" * 1025, "é" * 513):
        with pytest.raises(InvalidRequestError):
            one(name=name)


def test_a_list_of_files_differs_from_one_file_and_keeps_its_order() -> None:
    files = parse(b' \n[{"name": "b"}, {"name": "a"}]')
    assert files.listed
    assert files.creates["name"].to_pylist() == [b"b", b"a"]
    none = parse(b"[]")
    assert (none.listed, none.names, len(none.creates)) == (True, [], 0)


def test_a_list_holds_at_most_ten_thousand_files() -> None:
    files = [{"name": "a"}] * MOST_FILES
    assert len(parse(json.dumps(files).encode()).names) == MOST_FILES
    with pytest.raises(InvalidRequestError, match="10000"):
        parse(json.dumps([*files, {"name": "a"}]).encode())


@given(st.binary())
def test_any_bytes_are_files_or_get_the_one_error(body: bytes) -> None:
    with suppress(InvalidRequestError):
        parse(body)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_any_json_is_files_or_gets_the_one_error(value: Any) -> None:
    with suppress(InvalidRequestError):
        parse(json.dumps([{"name": value, "mode": value}]).encode())


def test_the_description_of_the_body_lists_every_member_with_its_meaning() -> None:
    schema = body_schema()["requestBody"]["content"]["application/json"]["schema"]
    properties = schema["anyOf"][0]["properties"]
    members = [member for member in MEMBERS if member.files]
    assert list(properties) == [member.name + form for member in members for form in member.forms]
    assert all(member["description"] for member in properties.values())


def arrow() -> dict[str, Any]:
    """Return a request of one name in Arrow's format."""
    table = pa.table({"name": pa.array([b"x.lock"], pa.binary())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    headers = {"content-type": "application/vnd.apache.arrow.stream"}
    return {"content": sink.getvalue().to_pybytes(), "headers": headers}
