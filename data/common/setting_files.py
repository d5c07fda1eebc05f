"""Files of settings."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from birthmark.data.common.setting_errors import InvalidError, reasons

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path, model: type[Model]) -> Model:
    """Return what a TOML file holds, as a model of pydantic.

    Raises `OSError` where it cannot be read, `ValueError` where it is not TOML, and `InvalidError`
    with all that the model refuses.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: expected a TOML file: {error}") from error
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise InvalidError([f"{path}: {reason}" for reason in reasons(error, model)]) from error
