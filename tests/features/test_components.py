from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birthmark.features import component_text, name_components
from birthmark.features.components import ANY, Component

OPERATORS = b"\\^$.|?*+()[]{}"
NAMES = st.binary(max_size=30) | st.text("ab.^$\\#", max_size=14).map(str.encode)


def escape(text: bytes) -> bytes:
    return b"".join(b"\\" + bytes([c]) if c in OPERATORS else bytes([c]) for c in text)


def oracle(name: bytes, prefix: bool) -> set[bytes]:
    """Return the components by a reading of Figure 6.2 line by line."""
    found = {b"^" + escape(name) + b"$"}
    pieces = [escape(piece) for piece in name.split(b".")]
    pieces[0] = b"^" + pieces[0]
    pieces[-1] = pieces[-1] + b"$"
    found.update(pieces)
    if prefix and len(name) > 5:
        found.add(b"^" + escape(name[:5]))
    return found


def test_prediction_tex_has_the_four_components_of_section_6_3_1():
    expected = {rb"^prediction\.tex$", b"^prediction", b"tex$", b"^predi"}
    assert set(name_components(b"prediction.tex", True)) == expected
    assert set(name_components(b"prediction.tex", False)) == expected - {b"^predi"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b".cshrc", {rb"^\.cshrc$", b"^", b"cshrc$", rb"^\.cshr"}),
        (b"core", {b"^core$"}),
        (b"RMAIL2", {b"^RMAIL2$", b"^RMAIL"}),
        (b"#pico.12345", {rb"^#pico\.12345$", b"^#pico", b"12345$"}),
        (b"draft.", {rb"^draft\.$", b"^draft", b"$"}),
        (b"a..b", {rb"^a\.\.b$", b"^a", b"", b"b$"}),
        (b"a.x.x.b", {rb"^a\.x\.x\.b$", b"^a", b"x", b"b$", rb"^a\.x\.x"}),
        (b"\xff\x00.\n", {b"^\xff\x00\\.\n$", b"^\xff\x00", b"\n$"}),
    ],
)
def test_a_name_is_split_as_the_words_of_figure_6_2_say(name, expected):
    assert set(name_components(name, True)) == expected


def test_only_a_name_of_more_than_five_bytes_has_a_prefix():
    assert b"^abcde" not in name_components(b"abcde", True)
    assert b"^abcde" in name_components(b"abcdef", True)
    assert "é".encode() * 2 + b"a" not in name_components("ééa".encode(), True)
    assert b"^" + "ééé".encode()[:5] in name_components("ééé".encode(), True)


@settings(deadline=None)
@given(NAMES, st.booleans())
def test_components_are_those_of_a_literal_reading_of_figure_6_2(name, prefix):
    found = name_components(name, prefix)
    assert len(found) == len(set(found))
    assert set(found) == oracle(name, prefix)


@settings(deadline=None)
@given(NAMES)
def test_a_name_matches_each_of_its_components_as_a_regular_expression(name):
    assert all(re.search(component, name) for component in name_components(name, True))


def test_text_of_a_component_shows_every_byte():
    assert component_text(rb"^a\.b$") == r"^a\.b$"
    assert component_text(b"\xff\x00\n") == r"\xff\x00\n"
    assert component_text("^é".encode()) == "^é"


@settings(deadline=None)
@given(NAMES, st.booleans())
def test_a_component_is_where_it_stands_and_its_text(name: bytes, prefix: bool):
    first, *others = name.split(b".")
    expected = {("whole", name)}
    if others:
        expected |= {("first", first), ("last", others[-1])}
        expected |= {("middle", piece) for piece in others[:-1]}
    if prefix and len(name) > 5:
        expected.add(("first", name[:5]))
    assert set(map(Component.of, name_components(name, prefix))) == expected


def test_the_component_that_every_name_has_stands_anywhere():
    assert Component.of(ANY) == ("any", b"")
    assert Component.of(rb"\.*") == ("middle", b".*")
