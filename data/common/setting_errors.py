"""What is wrong with settings, in words: a line for each reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # not all that tells errors has asked pydantic
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails


class InvalidError(ValueError):
    """Settings that cannot be used; `reasons` name the file, the key and what was expected."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


def check(model: type[BaseModel], **given: Any) -> None:
    """Raise `InvalidError` where one of the settings that are given is none of `model`."""
    from pydantic import ValidationError

    try:
        model(**given)
    except ValidationError as error:
        raise InvalidError(reasons(error, model)) from None


def reasons(error: ValidationError, model: type[BaseModel] | None = None) -> list[str]:
    """Return what was wrong, one line for each setting, which it begins with.

    Of a setting that `model` does not have it says which may be meant, and which there are.
    """
    found = []
    for detail in error.errors(include_url=False):
        place = ".".join(map(str, detail["loc"]))
        found.append(": ".join(filter(None, (place, _reason(detail, model)))))
    return found


def expected(detail: ErrorDetails) -> str:
    """Return what was expected, without what pydantic puts before our own words."""
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    return detail["msg"]


def _reason(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    if detail["type"] == "extra_forbidden":
        return "there is no such setting" if model is None else _none(detail, model)
    if detail["type"] in ("value_error", "missing"):  # what was found is all that is around it
        return expected(detail)
    return f"{expected(detail)}, found {detail['input']!r}"


def _none(detail: ErrorDetails, model: type[BaseModel]) -> str:
    from birthmark.data.common.setting_names import no_setting  # which has asked pydantic

    return no_setting(model, detail["loc"])
