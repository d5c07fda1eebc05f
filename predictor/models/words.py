"""What evidence of several kinds is made of, in words that people read."""

from __future__ import annotations

from typing import Any


def rule(component: str, n_m: float | None, n_a: float | None) -> str:
    """Return a rule of a component as a phrase, such as ``tex$  in 812 of 830``."""
    return f"{component}  in {_count(n_m)} of {_count(n_a)}"


def attribute(attribute: str, value: Any) -> str:
    """Return an attribute and its value as a phrase, such as ``mode 0644``."""
    if attribute == "mode" and isinstance(value, int):
        value = f"{value:04o}"
    return f"{attribute} {'none' if value is None else value}"


def _count(n: float | None) -> str:
    """Return a count of rows, of which older ones may count less than one."""
    return f"{n or 0:,.0f}" if n is None or n == round(n) else f"{n:,.1f}"
