"""The requests of a client, and its results."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar
from urllib.parse import quote_from_bytes

from birthmark.data.common.choices import expect
from birthmark_native import HINTS, MEMBERS, MOST_FILES

if TYPE_CHECKING:
    import pyarrow as pa

Name = bytes | str
"""A file's name: its bytes, or text as ``os.listdir`` returns it."""

ARROW = "application/vnd.apache.arrow.stream"
_JSON = "application/json"
_KINDS = {member.name: member.kind for member in MEMBERS}
_BITS = {hint.key: hint.bit for hint in HINTS}
_VERDICTS = range(sum(_BITS.values()) + 1)


class Attributes(TypedDict, total=False):
    """Optional attributes of a file or directory that is being created."""

    mode: int | str
    uid: int
    gid: int
    client: str
    time: datetime


class Known(Attributes, total=False):
    """Optional attributes of a file: also its directory and its histories."""

    directory: Name
    directory_handle: bytes
    directory_system: bytes
    directory_inode: int
    directory_path: Name
    history: bytes
    name_history: bytes


@dataclass(frozen=True)
class Prediction:
    """The prediction for a file; without an answer, no to everything.

    `model`, `kind` and `point` describe the model; without an answer they are None, and `why` is
    the reason. `told` is the history scope (``features.history_scope``). `warnings` name values
    that are probably mistakes, such as a mode of 600, which is decimal.
    """

    answered: bool
    predicates: Mapping[str, bool] = field(default_factory=dict)
    model: str | None = None
    kind: str | None = None
    point: str | None = None
    why: str | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    probabilities: Mapping[str, float | None] = field(default_factory=dict)
    told: str = "nothing"
    warnings: Sequence[str] = ()

    def yes(self, predicate: str) -> bool:
        """Return whether a predicate's answer is yes; False without an answer.

        Raises ValueError for a key that the model does not know.
        """
        if not self.answered:
            return False
        expect("predicate", predicate, self.predicates)
        return self.predicates[predicate]

    def answer(self, predicate: str) -> str:
        """Return ``yes``, ``no`` or ``unsure`` by a predicate's key; unsure without an answer.

        Raises ValueError for a key that the model does not know.
        """
        if self.answered:
            expect("predicate", predicate, self.predicates)
        return self.answers.get(predicate, "unsure")

    def probability(self, predicate: str) -> float | None:
        """Return the probability that a predicate holds, from 0 to 1; None if unknown.

        Raises ValueError for a key that the model does not know.
        """
        if self.answered:
            expect("predicate", predicate, self.predicates)
        return self.probabilities.get(predicate)


@dataclass(frozen=True)
class Predictions:
    """The predictions for `files`, in their order; without an answer, no to everything.

    `table` has a boolean column for each predicate, and is None without an answer. If the three
    answers were requested, each predicate has ``KEY answer`` and ``KEY probability`` as well.
    """

    answered: bool
    files: int
    table: pa.Table | None = None
    model: str | None = None
    kind: str | None = None
    point: str | None = None
    why: str | None = None

    def yes(self, predicate: str) -> pa.ChunkedArray:
        """Return which answers to a predicate are yes; False without an answer.

        Raises ValueError for a key that the model does not know.
        """
        import pyarrow as pa

        column = self._column(predicate, predicate)
        return pa.chunked_array([pa.repeat(False, self.files)]) if column is None else column

    def answers(self, predicate: str) -> pa.ChunkedArray:
        """Return ``yes``, ``no`` or ``unsure`` by a predicate's key; unsure without an answer.

        Raises ValueError for a key that the model does not know.
        """
        import pyarrow as pa

        column = self._column(predicate, f"{predicate} answer")
        if column is None:
            return pa.chunked_array([pa.repeat("unsure", self.files)])
        return column.cast(pa.utf8())

    def probabilities(self, predicate: str) -> pa.ChunkedArray:
        """Return the probability of a predicate for each file, from 0 to 1; null if unknown.

        Raises ValueError for a key that the model does not know.
        """
        import pyarrow as pa

        column = self._column(predicate, f"{predicate} probability")
        return pa.chunked_array([pa.nulls(self.files, pa.float64())]) if column is None else column

    def _column(self, predicate: str, column: str) -> pa.ChunkedArray | None:
        """Return a column of a predicate that the model has; None if the answer lacks it."""
        import pyarrow as pa

        if self.table is None:
            return None
        schema = self.table.schema
        expect(
            "predicate", predicate, [each.name for each in schema if pa.types.is_boolean(each.type)]
        )
        return self.table[column] if column in schema.names else None


@dataclass(frozen=True)
class Hint:
    """The hints for a create; none without an answer. `model` stays None."""

    answered: bool
    verdict: int = 0
    model: str | None = None
    why: str | None = None

    @property
    def hot_name(self) -> bool:
        """Whether it is a file that is always empty, or gone within seconds."""
        return bool(self.verdict & _BITS["HotName"])

    @property
    def hot_dir(self) -> bool:
        """Whether it is a directory in which such files are born."""
        return bool(self.verdict & _BITS["HotDir"])

    @property
    def hot_write(self) -> bool:
        """Whether it is a file whose blocks are written over and over."""
        return bool(self.verdict & _BITS["HotWrite"])


Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Question(Generic[Answer]):
    """A request, and the function that reads its answer; `read` raises for an invalid one."""

    path: str
    body: bytes | None
    read: Callable[[bytes], Answer]
    media_type: str = _JSON


def prediction(name: Name, known: Known) -> Question[Prediction]:
    """Return the request for the prediction of a file."""
    return Question("/v1/predictions", json.dumps(_file(name, known)).encode(), _prediction)


def predictions(
    files: pa.Table | Sequence[Name], three: bool = False
) -> tuple[Question[Predictions], int]:
    """Return the request for predictions of files, with `three` answers, and how many there are."""
    import pyarrow as pa

    table = files if isinstance(files, pa.Table) else _named(files)
    rows = len(table)
    if rows > MOST_FILES:
        raise ValueError(f"expected at most {MOST_FILES} files at a time, found {rows}")
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    body = stream.getvalue().to_pybytes()
    path = "/v1/predictions?answers=three" if three else "/v1/predictions"
    return Question(path, body, lambda reply: _predictions(reply, rows), ARROW), rows


def _named(names: Sequence[Name]) -> pa.Table:
    import pyarrow as pa

    return pa.table({"name": pa.array(map(in_bytes, names), pa.binary())})


def hint(name: Name, is_directory: bool, known: Attributes) -> Question[Hint]:
    """Return the request for the hints of a create."""
    body = json.dumps({**_file(name, known), "is_directory": is_directory}).encode()
    return Question("/v1/hints", body, _hint)


def explanation(name: Name, known: Known) -> Question[dict[str, Any]]:
    """Return the request for the explanation of a prediction."""
    body = json.dumps(_file(name, known)).encode()
    return Question("/v1/explanations", body, lambda reply: _member(reply, "prediction", dict))


def model() -> Question[dict[str, Any]]:
    """Return the request for the current model."""
    return Question("/v1/model", None, _object)


def in_bytes(name: Name) -> bytes:
    """Return a name's bytes; raise ValueError for text that cannot be a name."""
    return name if isinstance(name, bytes) else name.encode(errors="surrogateescape")


def _file(name: Name, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return a create as a request has it (``serving.messages.requests``)."""
    file: dict[str, Any] = {**written("name", in_bytes(name))}
    for member, value in known.items():
        kind = _KINDS.get(member)
        if kind in ("name", "path"):
            file |= written(member, in_bytes(value))
        elif kind in ("bytes", "opaque"):
            file[member] = b64encode(value).decode()
        elif isinstance(value, datetime):
            file[member] = value.isoformat()
        else:
            file[member] = value
    return file


def _object(body: bytes) -> dict[str, Any]:
    value = json.loads(body)
    if not isinstance(value, dict):
        raise ValueError("expected a JSON object")
    return value


def _member(body: bytes, name: str, kind: type[Answer]) -> Answer:
    member = _object(body).get(name)
    if not isinstance(member, kind):
        raise ValueError(f"expected {name!r} in the answer")
    return member


def _prediction(body: bytes) -> Prediction:
    reply = _member(body, "prediction", dict)
    predicates = reply.get("predicates")
    if not isinstance(predicates, dict) or not set(predicates.values()) <= {"yes", "no"}:
        raise ValueError("expected 'yes' or 'no' for every predicate")
    yes = {key: answer == "yes" for key, answer in predicates.items()}
    answered_by = {name: _member(body, name, str) for name in ("model", "kind", "point")}
    # an older service, without the three answers, has none of these
    answers, probabilities = reply.get("answers", {}), reply.get("probabilities", {})
    if not isinstance(answers, dict) or not isinstance(probabilities, dict):
        raise ValueError("expected answers and probabilities by predicate")
    scope = reply.get("told", "nothing")
    if not isinstance(scope, str):
        raise ValueError("expected the history scope")
    warnings = _object(body).get("warnings", [])
    if not isinstance(warnings, list):
        raise ValueError("expected a list of warnings")
    return Prediction(
        True,
        yes,
        **answered_by,
        answers=answers,
        probabilities=probabilities,
        told=scope,
        warnings=warnings,
    )


def _predictions(body: bytes, rows: int) -> Predictions:
    import pyarrow as pa

    try:
        with pa.ipc.open_stream(body) as reader:
            table = reader.read_all()
    except pa.ArrowException as error:
        raise ValueError(f"expected a stream of Arrow: {error}") from error
    metadata = {
        key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()
    }
    if len(table) != rows or not all(_is_expected(field) for field in table.schema):
        raise ValueError(f"expected {rows} rows of answers and probabilities")
    return Predictions(True, rows, table, metadata["model"], metadata["kind"], metadata["point"])


def _is_expected(field: pa.Field) -> bool:
    import pyarrow as pa

    if field.name.endswith(" answer") or field.name == "told":
        return bool(pa.types.is_dictionary(field.type))
    return bool(field.type == (pa.float64() if field.name.endswith(" probability") else pa.bool_()))


def _hint(body: bytes) -> Hint:
    verdict = json.loads(body)
    if type(verdict) is not int or verdict not in _VERDICTS:
        raise ValueError(f"expected a number from 0 to {_VERDICTS[-1]}")
    return Hint(True, verdict)


def written(member: str, name: bytes) -> dict[str, str]:
    """Return `name` as a member of a request: as text if it is UTF-8, else percent-encoded."""
    try:
        return {member: name.decode()}
    except UnicodeDecodeError:
        return {f"{member}_percent": quote_from_bytes(name)}
