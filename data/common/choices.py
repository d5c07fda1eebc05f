"""A word that must be one of those that there are; and of one that is none, which may be meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path


def expect(what: str, word: str, choices: Collection[str]) -> None:
    """Raise ValueError, which tells what there is, unless `word` is one of `choices`.

    `what` is what they are, as ``key``.
    """
    if word not in choices:
        raise ValueError(
            f"{word!r} is no {what}{meant(word, choices)}: expected one of {', '.join(choices)}"
        )


def meant(word: str, choices: Collection[str]) -> str:
    """Return a question in brackets after a blank: which of `choices` is meant by `word`.

    It is empty where none is like it.
    """
    lowered = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower(), lowered, n=1)
    return f" (did you mean {lowered[near[0]]!r}?)" if near else ""


def meant_beside(path: Path) -> str:
    """Return such a question for a path that is not there: which name beside it is meant."""
    try:
        return meant(path.name, [other.name for other in path.absolute().parent.iterdir()])
    except OSError:
        return ""
