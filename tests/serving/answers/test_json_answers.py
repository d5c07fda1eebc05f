"""Native code reads the same requests as an oracle, and refuses the same."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.features import HISTORY_BYTES, from_requests
from birthmark.predictor.allocation.verdicts import verdicts
from birthmark.predictor.answers.certainty import WORDS
from birthmark.serving.answers.json_answers import hint, predict
from birthmark.serving.messages.requests import parse
from birthmark.serving.models.loaded import load_model
from birthmark.training.registry.versions import Registry
from birthmark_native import Image, InvalidRequestError, requested
from tests.serving import oracle


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, publish: Callable[..., str]) -> Any:
    path: Path = tmp_path_factory.mktemp("answers")
    publish(path, heat=True)
    return load_model(Registry(path))


zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
texts = st.text(max_size=6) | st.sampled_from(["a" * 1024, "a" * 1025, "é" * 255, "é" * 256])
encoded = st.binary(max_size=6).map(lambda name: b64encode(name).decode())
times = st.datetimes(timezones=st.just(UTC) | zones).map(datetime.isoformat) | st.from_regex(
    r"\A[0-9]{4}-[01][0-9]-[0-3][0-9][T t][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,8})?)?"
    r"(Z|z|[+-][0-2][0-9]:?[0-6][0-9]|)\Z"
)
numbers = st.integers(-1, 2**32) | st.integers() | st.floats()
histories = st.just(HISTORY_BYTES).flatmap(lambda n: st.binary(min_size=n - 1, max_size=n + 1))
values: dict[str, st.SearchStrategy[Any]] = {
    "name": texts,
    "name_base64": encoded | texts,
    "name_percent": texts | st.from_regex(r"\A(%[0-9a-fA-F]{2}|[a-z%])*\Z"),
    "directory": texts,
    "directory_base64": encoded,
    "directory_percent": texts,
    "mode": st.integers(0, 0o7777) | numbers | st.from_regex(r"\A[+-]?[0-8]{1,6}\Z"),
    "uid": numbers,
    "gid": numbers,
    "client": texts,
    "time": times,
    "history": histories.map(lambda row: b64encode(row).decode()),
    "is_directory": st.booleans(),
    "size": st.just(1),
}
"""Valid and invalid values for every member."""


@st.composite
def members(draw: st.DrawFn) -> str:
    """Return an object in JSON: usually a name and few other members, each once."""
    names = draw(st.lists(st.sampled_from(list(values)), max_size=4, unique=draw(st.booleans())))
    if draw(st.integers(0, 9)):
        names = ["name", *(name for name in names if not name.startswith("name"))]
    anything = st.none() | st.booleans() | st.text(max_size=3) | st.lists(st.none(), max_size=1)
    pairs = []
    for name in names:
        value = draw(values[name] if draw(st.integers(0, 9)) else anything)
        ascii_ = draw(st.booleans())
        pairs.append(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=ascii_)}")
    return "{" + ", ".join(pairs) + "}"


lists = st.lists(members(), max_size=3).map(lambda files: f"[{', '.join(files)}]")
bodies = members() | members() | lists


def accepted(read: Callable[[bytes], Any], body: bytes) -> Any:
    """Return the files in a body; None if it is refused."""
    try:
        return read(body)
    except ValueError:
        return None


def table(files: oracle.FileRequest | list[oracle.FileRequest]) -> pa.Table:
    """Return the creates of files as the oracle reads them."""
    listed = files if isinstance(files, list) else [files]
    return from_requests([file.create() for file in listed])


@pytest.mark.deep
@given(bodies)
def test_native_code_reads_the_same_as_the_oracle(text: str) -> None:
    body = text.encode("utf-8", "surrogatepass")
    files, found = accepted(oracle.parse, body), accepted(parse, body)
    assert (files is None) is (found is None)
    if files is not None:
        assert found.creates.equals(table(files))
        echoes = [file.echo() for file in (files if found.listed else [files])]
        assert found.names == echoes


@given(st.lists(members(), min_size=1, max_size=3))
def test_answers_have_the_names_of_the_request(model: Any, files: list[str]) -> None:
    body = f"[{', '.join(files)}]".encode("utf-8", "surrogatepass")
    read = accepted(oracle.parse, body)
    if read is None:
        with pytest.raises(InvalidRequestError):
            predict(model, body)
        return
    answer, count, logged = predict(model, body)
    rows = np.frombuffer(logged, np.uint8).reshape(count, -1)
    predictions = json.loads(answer)["predictions"]
    assert count == len(predictions) == len(read)
    columns = model.answers(table(read))
    for row, (file, prediction) in enumerate(zip(read, predictions, strict=True)):
        answers = prediction.pop("predicates")
        words, likely = prediction.pop("answers"), prediction.pop("probabilities")
        assert prediction.pop("told") == "nothing"
        assert prediction == file.echo()
        assert words == {key: "yes" if yes == "yes" else "unsure" for key, yes in answers.items()}
        assert likely == dict.fromkeys(answers), "a model that was not calibrated has none"
        assert dict(zip(model.answerer.predicates, (rows[row] & 1).tolist(), strict=True)) == {
            key: answer == "yes" for key, answer in answers.items()
        }
        assert [WORDS[word] for word in rows[row] >> 1] == [*words.values()]
        assert answers == {
            key: "yes" if column[row].as_py() else "no" for key, column in columns.items()
        }


@given(members())
def test_hints_accept_the_same_bodies_as_the_oracle(model: Any, text: str) -> None:
    body = text.encode("utf-8", "surrogatepass")
    asked = accepted(oracle.parse_hint, body)
    if asked is None:
        with pytest.raises(InvalidRequestError):
            hint(model.hints, body)
        return
    creates = from_requests([asked.create()]).append_column(
        "directory", pa.array([asked.is_directory])
    )
    (verdict,) = verdicts(Image(model.hints.content), creates).to_pylist()
    assert hint(model.hints, body) == verdict


@given(st.binary() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps).map(str.encode))
def test_any_bytes_are_read_as_the_oracle_reads_them_or_not_at_all(body: bytes) -> None:
    assert (accepted(parse, body) is None) is (accepted(oracle.parse, body) is None)


def test_creates_of_several_bodies_follow_each_other() -> None:
    bodies = [b'{"name": "a"}', b'[{"name": "b"}, {"name": "c", "mode": "0644"}]', b"[]"]
    odd = b'{"name": "d", "time": "2026-11-21 05:44:00z"}'
    assert requested(bodies)["name"].to_pylist() == [b"a", b"b", b"c"]
    asked = requested([*bodies, odd])
    assert asked["name"].to_pylist() == [b"a", b"b", b"c", b"d"]
    assert asked["time"][3].as_py() == datetime(2026, 11, 21, 5, 44, tzinfo=UTC)
