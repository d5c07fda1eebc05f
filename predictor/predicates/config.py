"""All built-in predicates, and those that users define: ranges, expressions and functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from birthmark.data.common.choices import expect
from birthmark.data.common.durations import SECOND
from birthmark.data.common.references import reference_to
from birthmark.predictor.predicates.builtin import FILE_PREDICATES, NAME_PREDICATES
from birthmark.predictor.predicates.expression import Expression
from birthmark.predictor.predicates.function import Answering, Function, NamedFunction
from birthmark.predictor.predicates.heat import DIRECTORY_PREDICATES, HEAT_PREDICATES
from birthmark.predictor.predicates.predicate import Predicate, Rule, Subject
from birthmark.predictor.predicates.rules import Bounds, in_ranges

REGISTRIES = (
    FILE_PREDICATES,
    HEAT_PREDICATES,
    NAME_PREDICATES,
    DIRECTORY_PREDICATES,
)
"""Registries of predicates by name; a module with more predicates adds its registry here."""

BUILT_IN = {predicate.key: predicate for by_name in REGISTRIES for predicate in by_name.values()}
"""The predicates of all registries, by key."""


_TEXTS = ("name", "subject", "description")
_BOUNDS = {"size": 1, "lifespan": SECOND}
_SIDES = tuple(f"{what}_{side}" for what in _BOUNDS for side in ("above", "at_most"))
_KEYS = (*_TEXTS, *_SIDES, "expression", "function")


def from_config(config: Mapping[str, Any]) -> Predicate:
    """Return the predicate that a table of the configuration describes.

    Keys: ``name``; ``subject`` (``file``, the default, or ``name``); ``description``; and the
    rule. The rule is an ``expression`` (``predictor.predicates.expression``), the name of a
    ``function`` (``predictor.predicates.function``), or at least one of the bounds ``size_above``,
    ``size_at_most`` (bytes), ``lifespan_above``, ``lifespan_at_most`` (seconds).
    ``predictor.predicates.rules`` defines when answers are true, false or unknown.

    >>> from_config({"name": "size>4G", "size_above": 4 * 1024**3}).description
    'size above 4294967296 bytes'
    >>> from_config({"name": "rewritten", "expression": "bytes_written > 2 * size"}).description
    'bytes_written > 2 * size'

    A function is imported on first use, or by ``check``. Raises ``ValueError``, naming the
    predicate and the key, for anything else.
    """
    name = config.get("name")
    if not isinstance(name, str) or not name or name.startswith("name:"):
        raise ValueError(f"a predicate needs a name, not starting with 'name:', but has {name!r}")
    for key in sorted(config):
        expect(f"setting of predicate {name!r}", key, _KEYS)
    subject = _subject(name, config.get("subject", "file"))
    rule = _rule(name, config, subject)
    description = str(config.get("description", _describe(config)))
    return Predicate(name, subject, description, "configuration", rule, dict(config))


def own_predicate(
    name: str, asks: str | Answering, subject: Subject = "file", description: str | None = None
) -> Predicate:
    """Return a user's predicate: an expression, or a function of a table of lives.

    >>> own_predicate("rewritten", "bytes_written > 2 * size").key
    'rewritten'

    A model that learned it can be saved only if the function can be imported by its name, which is
    impossible for a notebook's. Raises ``ValueError`` as ``from_config`` does.
    """
    config: dict[str, Any] = {"name": name, "subject": subject}
    if description is None and not isinstance(asks, str):
        described = asks.__doc__ or str(getattr(asks, "__name__", name))
        description = described.partition("\n")[0]
    if description is not None:
        config["description"] = description
    if isinstance(asks, str):
        return from_config(config | {"expression": asks})
    reference = reference_to(asks)
    named = from_config(config | {"function": reference or "notebook:function"})
    return replace(named, rule=Function(asks), config=named.config if reference else None)


def check(predicate: Predicate) -> None:
    """Raise ``ValueError``, naming the predicate, if its function cannot be imported."""
    if isinstance(predicate.rule, NamedFunction):
        try:
            predicate.rule.resolve()
        except ValueError as error:
            raise ValueError(f"predicate {predicate.name!r}: function: {error}") from error


def _rule(name: str, config: Mapping[str, Any], subject: Subject) -> Rule:
    size, lifespan = (_bounds(name, config, what) for what in _BOUNDS)
    bounded = not size == lifespan == (None, None)
    given = [key for key in ("expression", "function") if config.get(key) is not None]
    if bounded + len(given) != 1:
        raise ValueError(
            f"predicate {name!r}: expected at least one of {', '.join(_SIDES)};"
            " or an expression; or a function"
        )
    if bounded:
        return partial(in_ranges, size=size, lifespan=lifespan)
    (key,) = given
    text = config[key]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"predicate {name!r}: {key}: expected text, found {text!r}")
    return NamedFunction(text) if key == "function" else _expression(name, text, subject)


def _expression(name: str, text: str, subject: Subject) -> Expression:
    rule = Expression(text)
    try:
        rule.check(subject)
    except ValueError as error:
        raise ValueError(f"predicate {name!r}: expression: {error}") from error
    return rule


def _subject(name: str, subject: Any) -> Subject:
    if subject not in ("file", "name"):
        raise ValueError(f"predicate {name!r}: subject must be 'file' or 'name', not {subject!r}")
    if any((built_in.name, built_in.subject) == (name, subject) for built_in in BUILT_IN.values()):
        raise ValueError(f"predicate {name!r} is built in: choose another name")
    return cast("Subject", subject)


def _bounds(name: str, config: Mapping[str, Any], what: str) -> Bounds:
    above, at_most = (_bound(name, config, f"{what}_{side}") for side in ("above", "at_most"))
    if above is not None and at_most is not None and above >= at_most:
        raise ValueError(f"predicate {name!r}: {what}_above must be less than {what}_at_most")
    return above, at_most


def _bound(name: str, config: Mapping[str, Any], key: str) -> int | None:
    value = config.get(key)
    if value is None:
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    scale = _BOUNDS[key.split("_")[0]]
    if not number or not math.isfinite(value) or not 0 <= value * scale < 2**63:
        raise ValueError(f"predicate {name!r}: {key} must be a number from 0, not {value!r}")
    bound: int = round(value * scale)
    return bound


def _describe(config: Mapping[str, Any]) -> str:
    for key in ("expression", "function"):
        if config.get(key) is not None:
            return str(config[key])
    units = {"size": "bytes", "lifespan": "seconds"}
    given = [key for key in _SIDES if config.get(key) is not None]
    return " and ".join(
        f"{key.replace('_', ' ')} {config[key]} {units[key.split('_')[0]]}" for key in given
    )
