"""The settings of what stays: read strictly, since a misspelt word would expose a name.

Tests also data/common/setting_files.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.data.anonymize import Settings, open_mapping, read_settings


def read(tmp_path: Path, text: str) -> Settings:
    path = tmp_path / "keep.toml"
    path.write_text(text)
    return read_settings(path)


def test_a_list_takes_the_place_of_the_default_one(tmp_path: Path) -> None:
    settings = read(tmp_path, 'names = ["core"]\nusers = [0, 25]\nhandles = "keep"\n')
    assert settings.names == ("core",)
    assert settings.users == (0, 25)
    assert settings.handles == "keep"
    assert settings.groups == Settings().groups


def test_the_thesiss_examples_stay_by_default(tmp_path: Path) -> None:
    """Section 3.6.1: CVS, .inbox, .pinerc, components such as lock; root, daemon, wheel."""
    with open_mapping(tmp_path / "mapping") as file:
        for name in (b"CVS", b".inbox", b".pinerc", b".inbox.lock"):
            assert file.mapping.name(name) == name
        assert file.mapping.name(b"lock.tex").startswith(b"lock.")
        assert file.settings.users[:2] == file.settings.groups[:2] == (0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ['x']", r"keep.toml: name: there is no such setting \(did you mean 'names'"),
        ("users = ['root']", r"keep.toml: users\.0: .*integer.*found 'root'"),
        ("users = [4294967296]", r"keep.toml: users\.0: .*less than"),
        ("handles = 'hash'", "keep.toml: handles: .*'map' or 'keep'"),
        ("omit = ['times']", r"keep.toml: omit\.0: "),
        ("names = ['']", r"keep.toml: names\.0: "),
        ("names = [", "keep.toml: expected a TOML file"),
    ],
)
def test_invalid_settings_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


def test_without_prefixes_only_whole_pieces_are_alike(tmp_path: Path) -> None:
    with open_mapping(tmp_path / "mapping", Settings(prefix=False)) as file:
        images = [file.mapping.name(name) for name in (b"a", b"ab", b"predict.c", b"predictor.c")]
    assert len({len(image.partition(b".")[0]) for image in images}) == 1
    assert images[2].partition(b".")[2] == images[3].partition(b".")[2]
    assert len({image[:3] for image in images}) == 4
