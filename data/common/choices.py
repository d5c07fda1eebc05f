"""Choices, and did-you-mean suggestions."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path


def expect(what: str, word: str, choices: Collection[str]) -> None:
    """Raise ValueError listing `choices` unless `word` is one; `what` names their kind."""
    if word not in choices:
        raise ValueError(
            f"{word!r} is no {what}{did_you_mean(word, choices)}: "
            f"expected one of {', '.join(choices)}"
        )


def did_you_mean(word: str, choices: Collection[str]) -> str:
    """Return a suggestion in brackets after a blank, or an empty text if no choice is similar."""
    lowered = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower(), lowered, n=1)
    return f" (did you mean {lowered[near[0]]!r}?)" if near else ""


def suggest_sibling(path: Path) -> str:
    """Return a suggestion for a missing path, from the names in its directory."""
    try:
        return did_you_mean(path.name, [other.name for other in path.absolute().parent.iterdir()])
    except OSError:
        return ""
