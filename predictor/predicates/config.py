"""Predicates that users define: a range of sizes, of lifespans, or of both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from birthmark.data.common.choices import expect
from birthmark.data.common.durations import SECOND
from birthmark.predictor.predicates.known import BUILT_IN
from birthmark.predictor.predicates.predicate import Predicate, Subject
from birthmark.predictor.predicates.rules import Bounds, in_ranges

_TEXTS = ("name", "subject", "description")
_BOUNDS = {"size": 1, "lifespan": SECOND}
_KEYS = (*_TEXTS, *(f"{what}_{side}" for what in _BOUNDS for side in ("above", "at_most")))


def from_config(config: Mapping[str, Any]) -> Predicate:
    """Return the predicate that a table of the configuration describes.

    Keys: ``name``; ``subject`` (``file``, the default, or ``name``); ``description``; and the
    bounds ``size_above``, ``size_at_most`` (bytes), ``lifespan_above``, ``lifespan_at_most``
    (seconds), of which at least one must be given. Unknown and true, false are as in
    ``predictor.predicates.rules``.

    >>> from_config({"name": "size>4G", "size_above": 4 * 1024**3}).description
    'size above 4294967296 bytes'

    Raises ``ValueError``, naming the predicate and the key, for anything else.
    """
    name = config.get("name")
    if not isinstance(name, str) or not name or name.startswith("name:"):
        raise ValueError(f"a predicate needs a name, not starting with 'name:', but has {name!r}")
    for key in sorted(config):
        expect(f"setting of predicate {name!r}", key, _KEYS)
    subject = _subject(name, config.get("subject", "file"))
    size, lifespan = (_bounds(name, config, what) for what in _BOUNDS)
    if size == lifespan == (None, None):
        raise ValueError(f"predicate {name!r}: expected at least one of {', '.join(_KEYS[3:])}")
    description = str(config.get("description", _describe(config)))
    rule = partial(in_ranges, size=size, lifespan=lifespan)
    return Predicate(name, subject, description, "configuration", rule, dict(config))


def _subject(name: str, subject: Any) -> Subject:
    if subject not in ("file", "name"):
        raise ValueError(f"predicate {name!r}: subject must be 'file' or 'name', not {subject!r}")
    if any((built_in.name, built_in.subject) == (name, subject) for built_in in BUILT_IN.values()):
        raise ValueError(f"predicate {name!r} is built in: choose another name")
    return cast(Subject, subject)


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
    units = {"size": "bytes", "lifespan": "seconds"}
    given = [key for key in _KEYS[3:] if config.get(key) is not None]
    return " and ".join(
        f"{key.replace('_', ' ')} {config[key]} {units[key.split('_')[0]]}" for key in given
    )
