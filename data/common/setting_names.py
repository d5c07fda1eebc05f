"""The names of the settings that a model of pydantic declares for a file."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import isclass
from typing import Any, get_args

from pydantic import BaseModel

from birthmark.data.common.choices import did_you_mean


def no_setting(model: type[BaseModel], place: Sequence[int | str]) -> str:
    """Return that there is no setting at `place`, with a suggestion and the list of settings.

    `place` is pydantic's location: the keys, and indices in lists, that lead to it.
    """
    *above, name = place
    for step in above:
        if step in model.model_fields:
            model = _held(model.model_fields[str(step)].annotation)
    names = list(model.model_fields)
    return f"there is no such setting{did_you_mean(str(name), names)}; there are {', '.join(names)}"


def _held(annotation: Any) -> type[BaseModel]:
    """Return the model that a field is, may be, or lists."""
    kinds = (annotation, *get_args(annotation))
    return next(kind for kind in kinds if isclass(kind) and issubclass(kind, BaseModel))
