from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.layout_hint.replay.rates import GROUP, at_rate


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the list of entry points of a distribution that hides the installed one."""
    about = tmp_path / "birthmark-9.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: birthmark\nVersion: 9\n")
    monkeypatch.syspath_prepend(tmp_path)
    return about / "entry_points.txt"


def test_the_package_that_generates_traces_regenerates_them(
    installed: Path, tmp_path: Path
) -> None:
    installed.write_text(f"[{GROUP}]\nat_rate = some_generator:regenerate\n")
    (tmp_path / "some_generator.py").write_text(
        "def regenerate(traces, rate, into):\n    return [into / f'{rate}-{traces[0]}']\n"
    )
    assert at_rate([Path("trace")], 0.5, Path("out")) == [Path("out/0.5-trace")]


def test_what_a_package_that_generates_traces_lacks_is_named(
    installed: Path, tmp_path: Path
) -> None:
    installed.write_text(f"[{GROUP}]\nat_rate = half_a_generator:regenerate\n")
    (tmp_path / "half_a_generator.py").write_text("import no_such_library\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        at_rate([Path("trace")], 0.5, Path("out"))


@pytest.mark.parametrize("points", ["", f"[{GROUP}]\nat_rate = no_such_package:at_rate\n"])
def test_without_such_a_package_one_sentence_says_what_to_do(installed: Path, points: str) -> None:
    installed.write_text(points)
    with pytest.raises(ValueError, match=r"^rate=0\.5: no installed package .*`make install`"):
        at_rate([Path("trace")], 0.5, Path("out"))
