"""Settings in a TOML file, read and checked."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from birthmark.data.common.regular import SETTINGS_BYTES, read_regular
from birthmark.data.common.setting_errors import InvalidError, reasons

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path, model: type[Model]) -> Model:
    """Return the settings in a file; raise `InvalidError` with file and keys if some are invalid.

    Raises OSError if the file cannot be read.
    """
    try:
        return model.model_validate(tomllib.loads(read_regular(path, SETTINGS_BYTES).decode()))
    except ValidationError as error:
        raise InvalidError([f"{path}: {reason}" for reason in reasons(error, model)]) from error
    except ValueError as error:
        raise InvalidError([f"{path}: expected a TOML file: {error}"]) from error
