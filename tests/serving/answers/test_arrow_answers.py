"""Requests in Arrow get the same answers as in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pyarrow as pa
import pytest

from birthmark.features import HISTORY_BYTES
from birthmark_native import MOST_FILES
from tests.cases import Case, suites

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
WHEN = datetime(2026, 11, 21, 5, 44, tzinfo=UTC)


FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)
FIRST_US, LAST_US = (
    (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) for at in (FIRST, LAST)
)
IMPOSSIBLE = (2**63 - 1, -(2**63), LAST_US + 1, FIRST_US - 1)
"""Microseconds since the epoch, of a year that a request in JSON cannot have."""


def micros(*times: int) -> pa.Array:
    """Return a null, and times in microseconds since the epoch."""
    return pa.array([None, *times]).cast(pa.timestamp("us", "UTC"))


def stream(table: pa.Table, **options: Any) -> bytes:
    """Return a table in Arrow's IPC stream format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def post(client: httpx.Client, body: bytes, query: str = "") -> httpx.Response:
    headers = {"content-type": MEDIA_TYPE}
    return client.post(f"/v1/predictions?{query}", content=body, headers=headers)


def answered(client: httpx.Client, query: str) -> pa.Table:
    """Return the answer of the service to a request of one lock with a query."""
    return arrow(client, pa.table({"name": ["x.lock"]}), query)


def arrow(client: httpx.Client, table: pa.Table, query: str = "") -> pa.Table:
    """Return the answer of the service to a table."""
    response = post(client, stream(table), query)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == MEDIA_TYPE
    with pa.ipc.open_stream(response.content) as reader:
        return reader.read_all()


def test_a_table_is_answered_as_a_list_is(client: httpx.Client) -> None:
    files = [
        {"name": "x.lock", "mode": 0o600, "uid": 1, "gid": 1, "client": "10.0.0.7"},
        {"name": "page1.html", "mode": None, "directory": "html"},
        {"name": "café.lock", "uid": 2**32 - 1},
    ]
    columns = ("name", "mode", "uid", "gid", "client", "directory")
    table = pa.table({c: [file.get(c) for file in files] for c in columns})
    listed = client.post("/v1/predictions", json=files).json()
    answers = arrow(client, table)
    assert answers.schema.metadata == {
        key.encode(): listed[key].encode() for key in ("model", "kind", "point")
    }
    assert set(answers.column_names) == set(listed["predictions"][0]["predicates"])
    for key in answers.column_names:
        assert answers.schema.field(key).type == pa.bool_()
        yes = [prediction["predicates"][key] == "yes" for prediction in listed["predictions"]]
        assert answers[key].to_pylist() == yes


@pytest.mark.parametrize(
    "columns",
    [
        {"name": pa.array([b"x\xe9.lock"])},
        {"name": pa.array(["x.lock"], pa.large_utf8()), "uid": pa.array([1], pa.int8())},
        {"name": pa.array([b"x.lock"], pa.large_binary()), "mode": pa.nulls(1)},
        {"name": pa.array(["x.lock"]), "time": pa.array([WHEN], pa.timestamp("s", "UTC"))},
        {"name": pa.array(["x.lock"]), "time": micros(FIRST_US).slice(1)},
        {"name": pa.array(["x.lock"]), "time": micros(LAST_US).slice(1)},
        {"name": pa.array(["x.lock"]), "history": pa.array([bytes(HISTORY_BYTES)])},
    ],
)
def test_a_column_may_be_of_any_type_that_holds_its_values(
    client: httpx.Client, columns: dict[str, pa.Array]
) -> None:
    assert arrow(client, pa.table(columns))["lifespan<=1"].to_pylist() == [True]


def test_a_table_may_be_empty_or_come_in_parts(client: httpx.Client) -> None:
    part = pa.table({"name": ["x.lock", "y.html"]})
    assert len(arrow(client, part.slice(0, 0))) == 0
    answers = arrow(client, pa.concat_tables([part, part]))
    assert answers["lifespan<=1"].to_pylist() == [True, False] * 2


def test_ten_thousand_rows_are_answered_and_no_more(client: httpx.Client) -> None:
    table = pa.table({"name": [f"x{n}.lock" for n in range(MOST_FILES)]})
    assert arrow(client, table)["lifespan<=1"].to_pylist() == [True] * MOST_FILES
    more = pa.concat_tables([table, table.slice(0, 1)])
    assert post(client, stream(more)).status_code == 422


def column(type: str, values: list[Any]) -> pa.Array:
    """Return a column of values from JSON; bytes are text in Latin-1."""
    match type:
        case "list":
            return pa.array([[value] for value in values])
        case "dictionary":
            return pa.array(values).dictionary_encode()
        case "binary" | "large_binary":
            values = [value and value.encode("latin-1") for value in values]
        case _ if type.startswith("timestamp"):
            unit, _, zone = type[len("timestamp[") : -1].partition(", tz=")
            return pa.array(values, pa.int64()).cast(pa.timestamp(unit, zone or None))
    return pa.array(values, pa.type_for_alias(type))


def ask(client: httpx.Client, columns: dict[str, tuple[str, list[Any]]]) -> str:
    """Return the status and the answer to columns, each with its type and its values."""
    table = pa.table({name: column(*typed) for name, typed in columns.items()})
    response = post(client, stream(table))
    return f"{response.status_code} {json.dumps(response.json())}"


@suites("serving/answers/arrow")
def test_invalid_columns_are_refused(case: Case, client: httpx.Client) -> None:
    requests = [json.loads(line) for line in case["requests"].splitlines()]
    case.expect("\n".join(ask(client, columns) for columns in requests))


@pytest.mark.parametrize("time", IMPOSSIBLE)
def test_times_that_json_cannot_have_are_refused(client: httpx.Client, time: int) -> None:
    response = post(client, stream(pa.table({"name": ["a", "b"], "time": micros(time)})))
    assert response.json()["error"]["field"] == "[1].time"


@pytest.mark.parametrize("query", ["", "other=1", "other=answers"])
def test_without_the_query_there_are_no_three_answers(client: httpx.Client, query: str) -> None:
    assert "told" not in answered(client, query).column_names


@pytest.mark.parametrize("query", ["answers=three", "other=1&answers=three", "answers=%74hree"])
def test_the_three_answers_are_requested_by_name(client: httpx.Client, query: str) -> None:
    answers = answered(client, query)
    assert answers["told"].to_pylist() == ["nothing"]
    assert answers["lifespan<=1 answer"].to_pylist() == ["yes"]
    assert answers["lifespan<=1 probability"].type == pa.float64()


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("answers=two", "two"),
        ("answers=", ""),
        ("answers", ""),
        ("answers=Three", "Three"),
        ("answers=three&answers=four", "four"),
    ],
)
def test_other_answers_are_refused_by_name(client: httpx.Client, query: str, value: str) -> None:
    response = post(client, stream(pa.table({"name": ["x.lock"]})), query)
    assert response.status_code == 422
    error = response.json()["error"]
    assert (error["type"], error["message"]) == ("invalid_request", "expected three")
    assert (error["field"], error["value"]) == ("answers", value)


def test_columns_of_the_same_name_are_refused(client: httpx.Client) -> None:
    table = pa.Table.from_arrays([pa.array(["a"])] * 2, names=["name", "name"])
    assert post(client, stream(table)).status_code == 422


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: b"",
        lambda body: b'{"name": "a"}',
        lambda body: body[: len(body) // 2],
        lambda body: body.replace(b"name", b"\xff\xfe\xff\xff"),
        lambda body: bytes(byte ^ 0x55 for byte in body),
    ],
)
def test_an_invalid_stream_is_refused(
    client: httpx.Client, spoil: Callable[[bytes], bytes]
) -> None:
    response = post(client, spoil(stream(pa.table({"name": ["x.lock"] * 50}))))
    assert response.status_code in (400, 422)
    assert response.json()["error"]["type"] in ("invalid_arrow", "invalid_request")


def test_text_that_is_not_utf_8_is_refused(client: httpx.Client) -> None:
    response = post(client, stream(pa.table({"name": ["caf??"]})).replace(b"caf??", b"caf\xe9\xff"))
    assert response.status_code == 400


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_a_compressed_batch_is_refused_as_its_size_is_unlimited(
    client: httpx.Client, compression: str
) -> None:
    body = stream(pa.table({"name": ["a" * 1000] * 1000}), compression=compression)
    response = post(client, body)
    assert response.status_code == 400
    assert "compressed" in response.json()["error"]["message"]
