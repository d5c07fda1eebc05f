"""The service's settings, each declared once: name, default, help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from data.sizes import size
from predictor import KINDS, Kind, Point


def _size(text: str) -> str:
    try:
        size(text)
    except ValueError as error:
        raise PydanticCustomError("size", "{reason}", {"reason": str(error)}) from error
    return text


class Settings(BaseModel):
    """What the service needs to know to run.

    A setting is also an option of ``birthmark serve`` (``poll_seconds``: ``--poll-seconds``) and
    a variable of the environment (``BIRTHMARK_POLL_SECONDS``); the option wins.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    registry: Path = Field(default=Path("registry"), description="directory of trained models")
    host: Annotated[str, StringConstraints(min_length=1)] = Field(
        default="127.0.0.1", description="address to listen at"
    )
    port: int = Field(default=8325, ge=0, le=65535, description="port; 0 takes a free one")
    uds: Path | None = Field(
        default=None, description="Unix socket to listen at, instead of a host and port"
    )
    model: Kind | None = Field(
        default=None, description=f"model that answers: {', '.join(KINDS)}; default: as published"
    )
    point: Point | None = Field(
        default=None, description="threshold: bounded or accurate; default: as published"
    )
    region: Annotated[str, AfterValidator(_size)] = Field(
        default="4M", description="what hints have room for: the region's bytes for data, as 4M"
    )
    poll_seconds: float = Field(
        default=1.0, gt=0, description="time between looks for a newly published model, seconds"
    )
    max_body_bytes: int = Field(
        default=16 * 1024 * 1024, ge=1, description="largest request body, bytes"
    )


def variable(setting: str) -> str:
    """Return the variable of the environment that holds `setting`."""
    return f"BIRTHMARK_{setting.upper()}"
