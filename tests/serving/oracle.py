"""An oracle for requests: an independent reader.

Nothing here is derived from ``native/contract``.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, NoReturn, Self
from urllib.parse import unquote_to_bytes

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core import PydanticCustomError

HISTORY_BYTES = 176
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_OCTAL = re.compile(r"0?[0-7]{1,4}")
_WORD = 2**32 - 1
NAME_BYTES, MANY = 1024, 10_000


def _expected(what: str, **found: Any) -> PydanticCustomError:
    return PydanticCustomError("expected", f"expected {what}", found)


def _from_base64(text: str) -> bytes:
    try:
        if len(text) % 4:
            raise ValueError("not in fours")
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
    """Return a validator for a directory entry's name in a `form`."""

    def check(text: str) -> str:
        name = _FORMS[form](text)
        if not 1 <= len(name) <= NAME_BYTES:
            raise _expected("1 to {limit} bytes, found {n}", limit=NAME_BYTES, n=len(name))
        if b"/" in name or b"\0" in name:
            raise _expected("a name in its directory, without / and NUL")
        return text

    return AfterValidator(check)


def _whole(number: Any) -> Any:
    """Return a whole number as an integer: 1.0 is 1, as in JSON Schema."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _octal(mode: Any) -> Any:
    if not isinstance(mode, str):
        return _whole(mode)
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


Text = Annotated[str, _name_in("")]
Base64 = Annotated[str, _name_in("_base64")]
Percent = Annotated[str, _name_in("_percent")]
Client = Annotated[str, Field(min_length=1, max_length=255)]
Time = Annotated[AwareDatetime, Field(strict=True), AfterValidator(_in_utc)]
History = Annotated[str, AfterValidator(_history)]
Word = Annotated[int, Field(strict=True, ge=0, le=_WORD), BeforeValidator(_whole)]
Mode = Annotated[int, Field(strict=True, ge=0, le=0o7777), BeforeValidator(_octal)]


class Asked(BaseModel):
    """A create in a request; members left out are unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    names: ClassVar[dict[str, int]] = {"name": 1}
    """The members for names, and the least number of forms of each."""

    name: Text | None = Field(None)
    name_base64: Base64 | None = Field(None)
    name_percent: Percent | None = Field(None)
    mode: Mode | None = Field(None)
    uid: Word | None = Field(None)
    gid: Word | None = Field(None)
    client: Client | None = Field(None)
    time: Time | None = Field(None)

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


class FileRequest(Asked):
    """A file that is being created; members left out are unknown."""

    names = {"name": 1, "directory": 0}

    directory: Text | None = Field(None)
    directory_base64: Base64 | None = Field(None)
    directory_percent: Percent | None = Field(None)
    history: History | None = Field(None)

    def create(self) -> dict[str, Any]:
        """Return the request as `features.creates.from_requests` takes it."""
        history = None if self.history is None else _from_base64(self.history)
        return {**super().create(), "dir_name": self._bytes("directory"), "history": history}

    def echo(self) -> dict[str, str]:
        """Return the member of the name, as sent."""
        return self._sent("name")


class HintRequest(Asked):
    """A file or directory that a file system is about to create."""

    is_directory: bool = Field(False, strict=True)


def parse(body: bytes) -> FileRequest | list[FileRequest]:
    """Return the file, or the files, in a body; raise ValueError for an invalid one."""
    found = json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    if not isinstance(found, list):
        return FileRequest.model_validate_json(body)
    if len(found) > MANY:
        raise ValueError("too many")
    return [FileRequest.model_validate_json(json.dumps(file)) for file in found]


def parse_hint(body: bytes) -> HintRequest:
    """Return the create in a body; raise as `parse` does."""
    json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    return HintRequest.model_validate_json(body)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(members)) < len(members):
        raise ValueError("a member that is there twice")
    return dict(members)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")
