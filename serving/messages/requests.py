"""What is asked over HTTP, as JSON: files that are being created.

A file name is bytes, and JSON is text; so a name comes in one of three members: ``name`` as text
(UTF-8), ``name_base64`` (RFC 4648 section 4) or ``name_percent`` (RFC 3986 section 2.1), and a
directory's name likewise.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import combinations
from typing import Annotated, Any, ClassVar, Self, TypeVar
from urllib.parse import unquote_to_bytes

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError, from_json

from birthmark.features import HISTORY_BYTES
from birthmark.serving.messages import excerpts
from birthmark_native import MOST_FILES, objects

NAME_BYTES = 1024
"""The longest name that is taken, bytes: NFSv3 sets no limit (RFC 1813 section 2.4)."""

MANY = MOST_FILES
"""The most files in one request."""

_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_OCTAL = re.compile(r"0?[0-7]{1,4}")
_WORD = 2**32 - 1


def _expected(what: str, **found: Any) -> PydanticCustomError:
    return PydanticCustomError("expected", f"expected {what}", found)


def _from_base64(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _expected("base64: {reason}", reason=str(error)) from error


def _from_percent(text: str) -> bytes:
    if _BARE_PERCENT.search(text):
        raise _expected("two hexadecimal digits after every %")
    return unquote_to_bytes(text)


_FORMS: dict[str, Callable[[str], bytes]] = {
    "": str.encode,
    "_base64": _from_base64,
    "_percent": _from_percent,
}


def _name_in(form: str) -> AfterValidator:
    """Return a validator of one directory entry's name, written in `form`."""

    def check(text: str) -> str:
        name = _FORMS[form](text)
        if not 1 <= len(name) <= NAME_BYTES:
            raise _expected("1 to {limit} bytes, found {n}", limit=NAME_BYTES, n=len(name))
        if b"/" in name or b"\0" in name:
            raise _expected("a name in its directory, without / and NUL")
        return text

    return AfterValidator(check)


def whole(number: Any) -> Any:
    """Return a whole number as such: JSON's 1.0 is 1, as JSON Schema has it."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _octal(mode: Any) -> Any:
    if not isinstance(mode, str):
        return whole(mode)
    if not _OCTAL.fullmatch(mode):
        raise _expected('a string of octal digits, as "0644", or a decimal number')
    return int(mode, 8)


def _history(text: str) -> str:
    if len(_from_base64(text)) != HISTORY_BYTES:
        raise _expected("{n} bytes in base64", n=HISTORY_BYTES)
    return text


def _in_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise _expected("a time of the years 1 to 9999 UTC") from error


def _described(**schema: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", **schema})


_PERCENT = r"%(?:0[1-9A-Fa-f]|2[0-9A-Ea-e]|[13-9A-Fa-f][0-9A-Fa-f])"  # neither NUL nor /
Text = Annotated[
    str,
    _name_in(""),
    _described(minLength=1, maxLength=NAME_BYTES, pattern=r"^[^/\x00]+$"),
]
Base64 = Annotated[str, _name_in("_base64"), _described(minLength=4, format="name-base64")]
Percent = Annotated[
    str,
    _name_in("_percent"),
    _described(minLength=1, pattern=rf"^(?:[^%/\x00]|{_PERCENT})+$"),
]
Client = Annotated[str, Field(min_length=1, max_length=255)]
Time = Annotated[AwareDatetime, Field(strict=True), AfterValidator(_in_utc)]
History = Annotated[str, AfterValidator(_history), _described(format="history-base64")]
Word = Annotated[int, Field(strict=True, ge=0, le=_WORD), BeforeValidator(whole)]
Mode = Annotated[
    int,
    Field(strict=True, ge=0, le=0o7777),
    BeforeValidator(_octal),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 0o7777},
                {"type": "string", "pattern": f"^{_OCTAL.pattern}$"},
            ]
        }
    ),
]


class CreateRequest(BaseModel):
    """A create that is asked about, and what is known of it; what is left out is unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    names: ClassVar[dict[str, int]] = {"name": 1}
    """The members for names, and in how many forms each must be there at least."""

    name: Text | None = Field(None, description="the new name, if it is UTF-8")
    name_base64: Base64 | None = Field(None, description="or the name's bytes in base64")
    name_percent: Percent | None = Field(None, description="or the name, other bytes as %XX")
    mode: Mode | None = Field(None, description="permission bits: octal string or number")
    uid: Word | None = Field(None, description="user who creates it")
    gid: Word | None = Field(None, description="group of that user")
    client: Client | None = Field(None, description="the machine that asks for it")
    time: Time | None = Field(None, description="when, as of RFC 3339")

    @model_validator(mode="after")
    def _each_name_once(self) -> Self:
        for member, least in self.names.items():
            if not least <= len(self._sent(member)) <= 1:
                forms = ", ".join(member + form for form in _FORMS)
                count = "exactly" if least else "at most"
                raise _expected(f"{count} one of {forms}", field=member)
        return self

    def _sent(self, member: str) -> dict[str, str]:
        """Return the forms of `member` that the request holds."""
        forms = {member + form: getattr(self, member + form) for form in _FORMS}
        return {form: text for form, text in forms.items() if text is not None}

    def _bytes(self, member: str) -> bytes | None:
        for form, text in self._sent(member).items():
            return _FORMS[form.removeprefix(member)](text)
        return None

    def create(self) -> dict[str, Any]:
        """Return the request as `features.creates.from_requests` takes it."""
        known = ("mode", "uid", "gid", "client", "time")
        return {"name": self._bytes("name")} | {member: getattr(self, member) for member in known}

    def canonical(self) -> bytes:
        """Return the request as JSON in the one form that is usual."""
        return self.model_dump_json(exclude_none=True).encode()


class FileRequest(CreateRequest):
    """A file that is being created, and what is known of it then; what is left out is unknown."""

    names = {"name": 1, "directory": 0}

    directory: Text | None = Field(None, description="the last name of its directory's path")
    directory_base64: Base64 | None = Field(None, description="or that name in base64")
    directory_percent: Percent | None = Field(None, description="or that name, bytes as %XX")
    history: History | None = Field(None, description="what was seen before it, in base64")

    def create(self) -> dict[str, Any]:
        """Return the request as `features.creates.from_requests` takes it."""
        history = None if self.history is None else _from_base64(self.history)
        return {**super().create(), "dir_name": self._bytes("directory"), "history": history}

    def echo(self) -> dict[str, str]:
        """Return the member that holds the name, as it was sent."""
        return self._sent("name")


class HintRequest(CreateRequest):
    """A file or directory that a file system is about to create."""

    is_directory: bool = Field(False, strict=True, description="whether it is a directory")


class Choice(BaseModel):
    """A version of the models that is to answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str = Field(max_length=64, strict=True, description="as it is in the registry")


_Model = TypeVar("_Model", bound=BaseModel)
_Place = tuple[int | str, ...]


def parse(body: bytes) -> FileRequest | list[FileRequest]:
    """Return the file, or the list of files, that a request's body is about.

    Raises `pydantic.ValidationError` for what is not JSON and for what is not such files: of one
    fault, with as much of what is there as is told.
    """
    # Told apart by the first byte, so that a mistake is reported for the form that was meant.
    if body.lstrip()[:1] != b"[":
        return parsed(FileRequest, body)
    every = enumerate(_objects(FileRequest, body, MANY))
    return [_validated(FileRequest, file, (place,)) for place, file in every]


def parse_hint(body: bytes) -> HintRequest:
    """Return the create that a request for hints is about; raise as `parse` does."""
    return parsed(HintRequest, body)


def parse_choice(body: bytes) -> Choice:
    """Return the version that a request chooses; raise as `parse` does."""
    return parsed(Choice, body)


def parsed(model: type[_Model], body: bytes) -> _Model:
    """Return the one object that a body holds; raise as `parse` does."""
    (found,) = _objects(model, body)
    return _validated(model, found)


def canonical(files: FileRequest | list[FileRequest]) -> bytes:
    """Return files as JSON in the one form that is usual, which `parse` takes for the same."""
    if isinstance(files, FileRequest):
        return files.canonical()
    return b"[%b]" % b",".join(file.canonical() for file in files)


def _objects(model: type[BaseModel], body: bytes, most: int | None = None) -> Iterator[bytes]:
    """Return the objects that a body holds, whose members `model` has."""
    places, fault = objects(body, list(model.model_fields), most)
    if fault is None:
        return (body[begin:end] for begin, end in places)
    kind, place, member, found = fault
    where = tuple(step for step in (place, member) if step is not None)
    if kind == "json":
        raise _invalid(PydanticCustomError("json_invalid", f"Invalid JSON: {found}"), where)
    raise _invalid(_expected(_FAULTS[kind]), where, _read(found))


_FAULTS = {
    "no_object": "an object",
    "too_many": f"at most {MANY} files",
    "unknown": "no such member",
    "repeated": "each member once",
    "too_long": "a shorter value",
}


def _validated(model: type[_Model], body: bytes, place: _Place = ()) -> _Model:
    """Return what is in a body of bounded size; `place` is where it was."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where, found = (*place, *first["loc"]), first["input"]
        if member := first.get("ctx", {}).get("field"):
            where, found = (*where, member), None
        what = PydanticCustomError(first["type"], first["msg"])
        raise _invalid(what, where, excerpts.value(found)) from None


def _invalid(what: PydanticCustomError, place: _Place, found: Any = None) -> ValidationError:
    """Return the one error that tells what is wrong at a place."""
    details: InitErrorDetails = {"type": what, "loc": place, "input": found}
    return ValidationError.from_exception_data("request", [details])


def _read(found: str) -> Any:
    """Return the value that is written so, or its beginning."""
    try:
        return from_json(found) if found else None
    except ValueError:  # its beginning, or half a surrogate pair, which is in no text
        return found


def body_schema(many: int = MANY) -> dict[str, Any]:
    """Return the OpenAPI description of what `parse` takes, with lists of up to `many` files."""
    one = schema_of(FileRequest)
    return in_json({"anyOf": [one, {"type": "array", "maxItems": many, "items": one}]})


def schema_of(asked: type[CreateRequest]) -> dict[str, Any]:
    """Return the JSON schema of a create: each name in one of its forms, or in none if it may."""
    schema = asked.model_json_schema()
    for member, least in asked.names.items():
        forms = [member + form for form in _FORMS]
        if least:
            schema["oneOf"] = [_sent(form) for form in forms]
        else:
            schema["not"] = {"anyOf": [_sent(*pair) for pair in combinations(forms, 2)]}
    return schema


def _sent(*members: str) -> dict[str, Any]:
    """Return the JSON schema of an object in which members are there, and are not null."""
    text = {"type": "string"}
    return {"required": list(members), "properties": dict.fromkeys(members, text)}


def in_json(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI description of a body that is read as it comes, of the JSON ``schema``."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"requestBody": body}
