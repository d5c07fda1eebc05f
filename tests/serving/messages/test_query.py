"""The query of a request for predictions."""

from __future__ import annotations

from typing import Any

import httpx
import pyarrow as pa
import pytest

from birthmark.serving.messages.errors import ApiError
from birthmark.serving.messages.query import wants_three


def arrow() -> dict[str, Any]:
    """Return a request of one name in Arrow's format."""
    table = pa.table({"name": pa.array([b"x.lock"], pa.binary())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    headers = {"content-type": "application/vnd.apache.arrow.stream"}
    return {"content": sink.getvalue().to_pybytes(), "headers": headers}


@pytest.mark.parametrize("query", [b"", b"other=1", b"other=answers"])
def test_without_the_query_there_are_no_three_answers(query: bytes) -> None:
    assert not wants_three(query)


@pytest.mark.parametrize("query", [b"answers=three", b"other=1&answers=three", b"answers=%74hree"])
def test_the_three_answers_are_requested_by_name(query: bytes) -> None:
    assert wants_three(query)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        (b"answers=two", "two"),
        (b"answers=", ""),
        (b"answers", ""),
        (b"answers=Three", "Three"),
        (b"answers=three&answers=four", "four"),
    ],
)
def test_other_answers_are_refused_by_name(query: bytes, value: str) -> None:
    with pytest.raises(ApiError, match="expected three") as raised:
        wants_three(query)
    assert raised.value.type == "invalid_request"
    assert (raised.value.field, raised.value.value) == ("answers", value)


@pytest.mark.parametrize("body", [{"json": {"name": "x.lock"}}, arrow()], ids=["json", "arrow"])
def test_the_service_refuses_unknown_answers_of_every_form(
    client: httpx.Client, body: dict[str, Any]
) -> None:
    refused = client.post("/v1/predictions?answers=two", **body)
    assert client.post("/v1/predictions?answers=three", **body).status_code == 200
    assert refused.status_code == 422
    assert refused.json() == {
        "error": {
            "type": "invalid_request",
            "message": "expected three",
            "field": "answers",
            "value": "two",
        }
    }
