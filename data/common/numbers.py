"""Types of numbers from outside: finite, within bounds, and of exactly one type.

Neither ``true`` nor ``"7"`` nor 7.5 is a count, and neither NaN nor infinity is a share.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from birthmark.data.schema import FIRST_US, LAST_US


def _whole(number: Any) -> Any:
    """Return a whole number as such: JSON's 1.0 is 1, as JSON Schema has it."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Count = Annotated[int, Field(strict=True, ge=0, lt=2**64), BeforeValidator(_whole)]
"""How often something happened."""

Instant = Annotated[int, Field(strict=True, ge=FIRST_US, le=LAST_US)]
"""Microseconds since the epoch, within the years 1 to 9999."""

Seconds = Annotated[float, Field(strict=True, ge=0, le=1e12, allow_inf_nan=False)]
"""A duration."""

Fraction = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
"""A part of a whole."""

Share = Annotated[float, Field(strict=True, gt=0, lt=1, allow_inf_nan=False)]
"""A part of a whole that is neither nothing nor all of it."""

Score = Annotated[float, Field(strict=True, ge=0, le=1 + 2**-52, allow_inf_nan=False)]
"""From 0 to 1; the next number above 1 is a threshold that no score reaches."""
