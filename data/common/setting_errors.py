"""Messages about invalid settings: a line for each reason."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import isclass
from typing import TYPE_CHECKING, Any, get_args

from birthmark.data.common.choices import did_you_mean

if TYPE_CHECKING:  # most users of this module do not need pydantic
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails


class InvalidError(ValueError):
    """Settings that cannot be used; `reasons` name the file, the key and what was expected."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons


def check(model: type[BaseModel], **given: Any) -> None:
    """Raise `InvalidError` if a given setting is not valid in `model`."""
    from pydantic import ValidationError

    try:
        model(**given)
    except ValidationError as error:
        raise InvalidError(reasons(error, model)) from None


def reasons(error: ValidationError, model: type[BaseModel] | None = None) -> list[str]:
    """Return a line for each invalid setting, which begins with its name.

    For a setting that `model` lacks, the line suggests a similar one, and lists all.
    """
    found = []
    for detail in error.errors(include_url=False):
        place = ".".join(map(str, detail["loc"]))
        found.append(": ".join(filter(None, (place, _reason(detail, model)))))
    return found


def expected(detail: ErrorDetails) -> str:
    """Return the expectation, without pydantic's own prefix."""
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    return detail["msg"]


def _reason(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    if detail["type"] == "extra_forbidden":
        return "there is no such setting" if model is None else _none(detail, model)
    if detail["type"] in ("value_error", "missing"):  # the input is all that surrounds it
        return expected(detail)
    return f"{expected(detail)}, found {detail['input']!r}"


def _none(detail: ErrorDetails, model: type[BaseModel]) -> str:
    """Return that there is no such setting, with a suggestion and the list of settings.

    The location is pydantic's: the keys, and indices in lists, that lead to it.
    """
    *above, name = detail["loc"]
    for step in above:
        if step in model.model_fields:
            model = _held(model.model_fields[str(step)].annotation)
    names = list(model.model_fields)
    return f"there is no such setting{did_you_mean(str(name), names)}; there are {', '.join(names)}"


def _held(annotation: Any) -> type[BaseModel]:
    """Return the model that a field is, may be, or lists."""
    from pydantic import BaseModel

    kinds = (annotation, *get_args(annotation))
    return next(kind for kind in kinds if isclass(kind) and issubclass(kind, BaseModel))
