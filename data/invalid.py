"""What is wrong with settings, in words: a line for each reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # not all that tells errors has asked pydantic
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails


class InvalidError(ValueError):
    """Settings that cannot be used; `reasons` name the file, the key and what was expected."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


def reasons(error: ValidationError) -> list[str]:
    """Return what was wrong, one line for each setting, which it begins with."""
    found = []
    for detail in error.errors(include_url=False):
        place = ".".join(map(str, detail["loc"]))
        found.append(": ".join(filter(None, (place, _reason(detail)))))
    return found


def expected(detail: ErrorDetails) -> str:
    """Return what was expected, without what pydantic puts before our own words."""
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    return detail["msg"]


def _reason(detail: ErrorDetails) -> str:
    if detail["type"] == "extra_forbidden":
        return "there is no such setting"
    if detail["type"] in ("value_error", "missing"):  # what was found is all that is around it
        return expected(detail)
    return f"{expected(detail)}, found {detail['input']!r}"
