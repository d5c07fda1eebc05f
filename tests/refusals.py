"""Cases of refusals: each reason of an extension module is raised by one, by its name."""

from __future__ import annotations

from collections.abc import Callable, Set
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import birthmark_native as native

Refused = Callable[[Path], object]


class Refusals:
    """The cases of a module.

    Args:
        module: the extension module.
        defects: reasons that are contradictions of the module, which no known input causes.
        elsewhere: reasons that are raised by cases of another module.
        huge: reasons whose cases need more memory or time than a quick test may.
    """

    def __init__(
        self,
        module: ModuleType,
        defects: Set[str],
        elsewhere: Set[str] = frozenset(),
        huge: Set[str] = frozenset(),
    ) -> None:
        self._reasons: dict[str, type[native.Error]] = module.REASONS
        self._defects, self._elsewhere, self._huge = defects, elsewhere, huge
        self._cases: dict[str, Refused] = {}

    def __call__(self, reason: str) -> Callable[[Refused], Refused]:
        """Register a function as the one that is refused for a reason."""

        def keep(case: Refused) -> Refused:
            assert reason not in self._cases
            self._cases[reason] = case
            return case

        return keep

    def each(self) -> Any:
        """Return the decorator of a test that is called with each reason."""
        marks = {reason: [pytest.mark.deep] * (reason in self._huge) for reason in self._cases}
        cases = [pytest.param(reason, marks=marks[reason]) for reason in sorted(self._cases)]
        return pytest.mark.parametrize("reason", cases)

    def check(self, reason: str, folder: Path) -> None:
        """Check that a case is refused for its reason, with a message."""
        with pytest.raises(native.Error) as raised:
            self._cases[reason](folder)
        assert raised.value.reason == reason
        assert type(raised.value) is self._reasons[reason]
        assert str(raised.value)

    def check_completeness(self) -> None:
        """Check that every reason but defects has a case."""
        assert {*self._reasons} == {*self._cases} | self._defects | self._elsewhere
        assert not self._defects & {*self._cases}
