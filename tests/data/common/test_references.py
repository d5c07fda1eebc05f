"""Names that stand for code; entry points are tested with the predicates that use them."""

from __future__ import annotations

import collections
import json
from pathlib import Path

import pytest

from birthmark.data.common.references import imported, reference_to

GROUP = "birthmark.predicates"


def test_a_reference_is_a_module_and_a_name_in_it() -> None:
    assert imported("json:dumps", GROUP) is json.dumps
    assert imported("json.decoder:JSONDecoder.decode", GROUP) is json.JSONDecoder.decode


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("nowhere:at_all", "No module named 'nowhere': install the package .* PYTHONPATH$"),
        ("json:nothing", "expected package.module:name: .*nothing"),
        (":dumps", "expected package.module:name"),
        ("dumps", "an entry point of the group 'birthmark.predicates', which has: none"),
    ],
)
def test_missing_references_are_named(reference: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^'{reference}': .*{reason}"):
        imported(reference, GROUP)


def test_importable_objects_have_a_reference() -> None:
    for thing in (json.dumps, collections.OrderedDict, Path.touch):
        reference = reference_to(thing)
        assert reference is not None
        assert imported(reference, GROUP) is thing


def test_objects_defined_in_a_function_have_no_reference() -> None:
    def inner() -> None: ...

    assert reference_to(inner) is None
    assert reference_to(lambda: None) is None
    assert reference_to(3) is None
