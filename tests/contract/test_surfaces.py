"""Every surface knows the members of creates and images as ``native/contract`` declares them."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

import birthmark_native
from birthmark.data.prediction_log import PREDICTIONS
from birthmark.features import CREATES, HISTORY_BYTES
from birthmark.features.components import PREFIX
from birthmark.layout_hint import INCLUDE
from birthmark.predictor.allocation import verdicts
from birthmark.predictor.image import forest, rules, trees
from birthmark.serving.client.questions import Attributes, Hint, Known, prediction
from birthmark.serving.messages.requests import parse
from birthmark_native import HINTS, MEMBERS, InvalidRequestError, Member, requested

HEADERS = "".join((INCLUDE / name).read_text() for name in ("birthmark.h", "birthmark_hint.h"))
DOCUMENT = Path(__file__).parents[2] / "docs" / "openapi.json"
FILE_MEMBERS = [member for member in MEMBERS if member.files]
UNLOGGED = {
    *("history", "name_history", "directory_handle"),
    *("directory_system", "directory_inode", "directory_path"),
}
"""Members that the log leaves out."""


def written(content: bytes) -> str:
    return base64.b64encode(content).decode()


def extremes(member: Member) -> tuple[object, object] | None:
    """Return a member's greatest legal value, and one beyond; None without a limit."""
    if member.most is None:
        return None
    if member.kind == "number":
        return member.most, member.most + 1
    if member.kind == "inode":
        return member.most, member.most + 1
    if member.kind == "opaque":
        return written(b"a" * member.most), written(b"a" * (member.most + 1))
    if member.kind == "bytes":
        return "A" * (-(-member.most // 3) * 4 - 1) + "=", "AAAA"
    return "a" * member.most, "a" * (member.most + 1)


def limited() -> list[Member]:
    return [member for member in FILE_MEMBERS if extremes(member) is not None]


@pytest.mark.parametrize("member", limited(), ids=lambda member: str(member.name))
def test_json_takes_a_member_up_to_its_limit(member: Member) -> None:
    legal, beyond = extremes(member) or (None, None)
    file = {"name": "a"} | {member.name: legal}
    assert not parse(json.dumps(file).encode()).listed
    with pytest.raises(InvalidRequestError, match=str(member.most)) as refused:
        parse(json.dumps([file | {member.name: beyond}]).encode())
    assert refused.value.field == f"[0].{member.name}"


@pytest.mark.parametrize("member", limited(), ids=lambda member: str(member.name))
def test_arrow_takes_a_member_up_to_its_limit(member: Member) -> None:
    assert member.most is not None
    wide = {"number": pa.int64(), "inode": pa.uint64(), "text": pa.utf8()}
    for beyond in (0, 1) if member.kind != "inode" else (0,):
        size = member.most + beyond
        value = size if member.kind in ("number", "inode") else "a" * size
        table = pa.table(
            {
                "name": pa.array([b"a"]),
                member.name: pa.array([value], wide.get(member.kind, pa.binary())),
            }
        )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        body = sink.getvalue().to_pybytes()
        if not beyond:
            assert len(requested([body], "arrow")) == 1
            continue
        with pytest.raises(InvalidRequestError) as refused:
            requested([body], "arrow")
        assert member.name in str(refused.value.field)


def test_the_table_of_creates_has_the_columns_that_are_declared() -> None:
    declared = [(each.column, each.meaning) for each in MEMBERS if each.column is not None]
    found = [(each.name, each.metadata[b"doc"].decode()) for each in CREATES]
    assert found == declared
    logged = {field.name: field.type for field in PREDICTIONS}
    for member in FILE_MEMBERS:
        if member.name not in UNLOGGED:
            name = {"time": "create_time"}.get(member.name, str(member.column))
            assert logged[name] == CREATES.field(str(member.column)).type
    histories = [member for member in MEMBERS if member.name in ("history", "name_history")]
    assert {history.most for history in histories} == {HISTORY_BYTES}


def test_the_document_describes_the_members_that_are_declared() -> None:
    paths = json.loads(DOCUMENT.read_text())["paths"]

    def properties(path: str) -> set[str]:
        schema = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        return set(schema.get("anyOf", [schema])[0]["properties"])

    def declared(members: list[Member]) -> set[str]:
        return {member.name + form for member in members for form in member.forms}

    assert properties("/v1/predictions") == properties("/v1/explanations") == declared(FILE_MEMBERS)
    assert properties("/v1/hints") == declared([each for each in MEMBERS if each.hints])


def test_clients_know_the_members_that_are_declared() -> None:
    hinted = {member.name for member in MEMBERS if member.hints}
    assert set(Attributes.__annotations__) == hinted - {"name", "is_directory"}
    assert set(Known.__annotations__) == {member.name for member in FILE_MEMBERS} - {"name"}


def test_the_service_reads_every_member_that_a_client_writes() -> None:
    values = {"name": b"\xff", "text": "a", "time": datetime.now(UTC), "number": 7, "inode": 7}
    values |= {"path": b"/\xff"}
    known = {
        member.name: values.get(member.kind, bytes(min(member.most or 0, 999)))
        for member in FILE_MEMBERS
        if member.name != "name"
    }
    body = prediction(b"\xfe", known).body  # type: ignore[arg-type]  # each of its own type
    assert body is not None
    (row,) = parse(body).table.to_pylist()
    assert {
        member.name for member in FILE_MEMBERS if row[member.column or member.name] is None
    } == set()


def test_verdicts_have_the_bits_that_are_declared() -> None:
    assert tuple(hint.key for hint in HINTS) == verdicts.HINTS
    assert [hint.bit for hint in HINTS] == [1 << place for place in range(len(HINTS))]
    assert sum(hint.bit for hint in HINTS) == verdicts.OF_FILE | verdicts.OF_DIRECTORY
    attributes = {"HotName": "hot_name", "HotDir": "hot_dir", "HotWrite": "hot_write"}
    for hint in HINTS:
        hinted = Hint(True, hint.bit)
        assert [key for key, name in attributes.items() if getattr(hinted, name)] == [hint.key]
        assert f'"{hint.key}": {hint.meaning}' in HEADERS


def test_the_headers_have_the_numbers_that_python_has() -> None:
    numbers = dict(re.findall(r"#define\t(BM_\w+)\t+(0x[0-9a-f]+|\d+)U\b", HEADERS))
    numbers |= dict(re.findall(r"^\t(BM_\w+) = (\d+)", HEADERS, re.MULTILINE))
    ours = {name: value for name, value in vars(birthmark_native).items() if name[:3] == "BM_"}
    assert ours.pop("BM_MAGIC") == b"BMIMAGE\n"
    assert len(ours) > 50
    assert {name: int(numbers[name], 0) for name in ours} == ours


@pytest.mark.parametrize(
    ("names", "prefix"),
    [(rules.PLACES, ""), (trees.ATTRIBUTES, "ATTR_"), (forest.SOURCES, "SOURCE_")],
)
def test_numbers_in_an_image_have_names_in_that_order(names: tuple[str, ...], prefix: str) -> None:
    numbers = [getattr(birthmark_native, f"BM_{prefix}{name.upper()}") for name in names]
    assert numbers == list(range(len(names)))


def test_the_prefix_of_a_name_is_as_long_as_that_of_an_image() -> None:
    assert PREFIX == birthmark_native.BM_PREFIX_LEN
