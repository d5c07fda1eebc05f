"""Requests in JSON: files that are being created.

``native/contract`` declares the members of a create, ``birthmark_native`` reads them, and this
module describes them. A file name is bytes and JSON is text, so a name has one of three members:
``name`` as text (UTF-8), ``name_base64`` (RFC 4648 section 4) or ``name_percent`` (RFC 3986 section
2.1). A directory's name has the same three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import BaseModel, Field
from pydantic_core import ValidationError, from_json

from birthmark.data.follow.updates import MEDIA_TYPE
from birthmark.data.schema import filled
from birthmark.data.settings import Strict
from birthmark.features.creates import CREATES
from birthmark.serving.messages import excerpts
from birthmark_native import (
    MEMBERS,
    MOST_FILES,
    InvalidRequestError,
    Member,
    check_object,
    files_of,
)

BINARY = {"schema": {"type": "string", "format": "binary"}}
"""The OpenAPI description of bytes."""

_PERCENT = r"%(?:0[1-9A-Fa-f]|2[0-9A-Ea-e]|[13-9A-Fa-f][0-9A-Fa-f])"  # neither NUL nor /


@dataclass(frozen=True)
class Files:
    """The files in a request's body.

    ``table`` has a row for each: columns of ``features.CREATES``, and others that name its
    directory. ``names`` has the member of its name, as sent. ``listed`` is whether the body is a
    list. ``warnings`` name values that are probably mistakes.
    """

    table: pa.Table
    names: list[dict[str, str]]
    listed: bool
    warnings: Sequence[str] = ()

    @property
    def creates(self) -> pa.Table:
        """The files as ``features.CREATES``."""
        return filled(self.table, CREATES)


class Choice(Strict):
    """A version of the models to publish."""

    version: str = Field(max_length=64, strict=True, description="its name in the registry")


_Model = TypeVar("_Model", bound=BaseModel)


def parse(body: bytes) -> Files:
    """Return the file, or the list of files, in a request's body.

    Raises `InvalidRequestError` for a body that is not JSON or not such files; it describes the
    first fault, with an excerpt of the value.
    """
    creates, names, listed, warnings = files_of(body)
    echoes = [{member: from_json(name)} for member, name in names]
    return Files(pa.Table.from_batches([creates]), echoes, listed, warnings)


def parsed(model: type[_Model], body: bytes) -> _Model:
    """Return the object in a body; raise as `parse` does."""
    # Otherwise pydantic would make an error for each unknown member.
    check_object(body, list(model.model_fields))
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        invalid = InvalidRequestError(first["msg"])
        invalid.is_json = first["type"] != "json_invalid"
        invalid.field = ".".join(map(str, first["loc"])) or None
        invalid.found = excerpts.written(first["input"])
        raise invalid from None


def body_schema(many: int = MOST_FILES) -> dict[str, Any]:
    """Return the OpenAPI description of the bodies for `parse`, with up to `many` files."""
    one = _schema_of(
        "FileRequest",
        "A file that is being created, and what is known of it; members left out are unknown.",
        [member for member in MEMBERS if member.files],
    )
    return in_json({"anyOf": [one, {"type": "array", "maxItems": many, "items": one}]})


def hint_schema() -> dict[str, Any]:
    """Return the OpenAPI description of the body of a request for hints."""
    what = "A file or directory that a file system is about to create."
    return in_json(_schema_of("HintRequest", what, [member for member in MEMBERS if member.hints]))


def _schema_of(title: str, what: str, members: list[Member]) -> dict[str, Any]:
    """Return the JSON schema of a create: each name in one form, or none if it is optional."""
    schema: dict[str, Any] = {
        "type": "object",
        "title": title,
        "description": what,
        "properties": {
            member.name + form: _described(member, form, description)
            for member in members
            for form, description in zip(member.forms, member.texts, strict=True)
        },
        "additionalProperties": False,
    }
    both: list[dict[str, Any]] = []
    for member in members:
        forms = [member.name + form for form in member.forms]
        if member.needed:
            schema["oneOf"] = [_sent(form) for form in forms]
        elif len(forms) > 1:
            both += [_sent(*pair) for pair in combinations(forms, 2)]
    return schema | ({"not": {"anyOf": both}} if both else {})


def _described(member: Member, form: str, description: str) -> dict[str, Any]:
    documented = {
        "title": (member.name + form).replace("_", " ").title(),
        "description": description,
    }
    if member.kind == "flag":
        return {"type": "boolean", "default": False} | documented
    return {"anyOf": [*_values(member, form), {"type": "null"}]} | documented


def _values(member: Member, form: str) -> list[dict[str, Any]]:
    """Return the JSON schemas of a member's values in one of its forms."""
    text = {"type": "string"}
    match member.kind, form:
        case "name", "_base64":
            return [text | {"minLength": 4, "format": "name-base64"}]
        case "name", "_percent":
            return [text | {"minLength": 1, "pattern": rf"^(?:[^%/\x00]|{_PERCENT})+$"}]
        case "name", _:
            return [text | {"minLength": 1, "maxLength": member.most, "pattern": r"^[^/\x00]+$"}]
        case "number", _:
            number = {"type": "integer", "minimum": 0, "maximum": member.most}
            octal = text | {"pattern": rf"^0?[0-7]{{1,{len(f'{member.most:o}')}}}$"}
            return [number, octal] if member.octal else [number]
        case "path", "_base64":
            return [text | {"minLength": 4, "format": "path-base64"}]
        case "path", "_percent":
            return [text | {"minLength": 1, "pattern": rf"^(?:[^%\x00]|%2[Ff]|{_PERCENT})+$"}]
        case "path", _:
            return [text | {"minLength": 1, "maxLength": member.most, "pattern": r"^[^\x00]+$"}]
        case "inode", _:
            # JSON schema's numbers are floats, which cannot represent the greatest inode
            return [{"type": "integer", "minimum": 0, "exclusiveMaximum": _most(member) + 1}]
        case "text", _:
            return [text | {"minLength": 1, "maxLength": member.most}]
        case "time", _:
            return [text | {"format": "date-time"}]
        case "bytes", _:
            return [text | {"format": "history-base64"}]
        case "opaque", _:
            longest = 4 * math.ceil(_most(member) / 3)
            return [text | {"minLength": 4, "maxLength": longest, "format": "opaque-base64"}]
    raise AssertionError(f"{member.name}: no request has {member.kind}")


def _most(member: Member) -> int:
    assert member.most is not None
    return member.most


def _sent(*members: str) -> dict[str, Any]:
    """Return the JSON schema of an object whose members are present and not null."""
    text = {"type": "string"}
    return {"required": list(members), "properties": dict.fromkeys(members, text)}


def in_json(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI description of a body with the JSON ``schema``."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"requestBody": body}


def in_arrow() -> dict[str, Any]:
    """Return the OpenAPI description of a body in Arrow."""
    return {"requestBody": {"required": True, "content": {MEDIA_TYPE: BINARY}}}
