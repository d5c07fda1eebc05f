"""What the lists of F2FS hold, and which names they mean (Linux 6.1, ``fs/f2fs/namei.c``)."""

from __future__ import annotations

import pytest

from birthmark.layout_hint.f2fs.extensions import MOST, Lists, extensions_of

SHOWN = "cold file extension:\nmp\nso\nhot file extension:\ndb\n"


def test_lists_are_read_and_shown_as_the_kernel_shows_them() -> None:
    lists = Lists.parse(SHOWN, "extension_list")
    assert lists == Lists(cold=("mp", "so"), hot=("db",))
    assert str(lists) == SHOWN
    empty = "cold file extension:\nhot file extension:\n"
    assert str(Lists.parse(empty, "extension_list")) == empty


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mp\n", "lists: line 1: expected 'cold file extension:'"),
        ("cold file extension:\nmp\n", "lists: expected a list under 'hot file extension:'"),
        (SHOWN + "muchtoolong\n", "lists: 'muchtoolong': expected an extension of 1 to 7 bytes"),
        (SHOWN + "".join(f"x{n}\n" for n in range(62)), "lists: expected 64 extensions at most"),
    ],
)
def test_text_that_is_no_lists_is_refused_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"^lists") as error:
        Lists.parse(text, "lists")
    assert reason in str(error.value)


@pytest.mark.parametrize("extension", ["", "*", "!db", "a b", "a,b", "ü", "12345678", "a\n"])
def test_an_extension_that_a_kernel_takes_for_something_else_is_refused(extension: str) -> None:
    with pytest.raises(ValueError, match="expected an extension"):
        Lists(hot=(extension,))


def test_as_many_extensions_are_taken_as_a_superblock_has_room_for() -> None:
    names = [f"x{n}" for n in range(MOST + 1)]
    assert len(Lists(tuple(names[:30]), tuple(names[30:MOST])).hot) == MOST - 30
    with pytest.raises(ValueError, match="expected 64 extensions at most, found 65"):
        Lists(tuple(names))


@pytest.mark.parametrize(
    ("name", "temperature"),
    [
        (b"a.mp3", "cold"),  # what follows the extension does not matter
        (b"A.MP4", "cold"),  # nor does the case
        (b"libc.so.6", "cold"),  # nor which period it is behind,
        (b".so", None),  # if that does not begin the name
        (b"so", None),
        (b"x.db", "hot"),
        (b"x.db.so", "cold"),  # the cold list is asked first
        (b"x.d", None),
        (b"x.", None),
        (b"", None),
    ],
)
def test_a_name_has_the_temperature_that_the_kernel_gives_it(
    name: bytes, temperature: str | None
) -> None:
    assert Lists(("mp", "so"), ("db",)).temperature(name) == temperature


def test_the_extensions_of_a_name_are_the_beginnings_of_what_its_periods_stand_before() -> None:
    assert extensions_of(b"A.tar.GZ") == {b"t", b"ta", b"tar", b"tar.", b"tar.g", b"tar.gz"} | {
        b"g",
        b"gz",
    }
    assert extensions_of(b".profile") == frozenset()
