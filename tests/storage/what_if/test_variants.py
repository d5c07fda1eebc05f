"""What is known of a server and what is tried, from a file and from options."""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.storage.what_if.server import Distribution, Server
from birthmark.storage.what_if.variants import SSD, questions


def asked(folder: Path, text: str) -> Path:
    path = folder / "variants.toml"
    path.write_text(text)
    return path


def test_a_file_says_what_is_known_and_what_is_tried(tmp_path: Path) -> None:
    text = '[server]\nthreads = 4\n[variants.big]\nmemory = "64G"\n[variants.flash]\nssd = true\n'
    found = questions(asked(tmp_path, text), ["threads=16,read_ahead=linux"])
    assert found.known() == {"threads": 4}
    assert list(found.variants) == ["big", "flash", "threads=16,read_ahead=linux"]
    server = Server(drive="cheetah9LP")
    assert found.variants["big"].of(server).memory == 64 << 30
    flash = found.variants["flash"].of(server)
    assert (flash.drive, flash.disk_read.median()) == (None, 90)
    both = found.variants["threads=16,read_ahead=linux"].of(server)
    assert (both.threads, both.read_ahead, both.drive) == (16, "linux", "cheetah9LP")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[variants.none]\n", r"variants\.toml: variants\.none: expected at least one of threads"),
        ("[variants.x]\nmemroy = 5\n", r"variants\.toml: variants\.x\.memroy: .*memory"),
        ('[variants.x]\nmemory = "much"\n', r"variants\.x\.memory: 'much' is no size"),
        ("[variants.x]\nthreads = 0\n", r"variants\.x\.threads: .*greater than or equal to 1"),
        ('[variants.x]\ndrive = "ufo"\n', r"variants\.x: drive 'ufo': expected atlas10k"),
        ('[variants.x]\ndrive = "atlas10k"\nssd = true\n', r"expected a drive or ssd, found both"),
        ("[variants.x]\ndisk_read_rate = 5\n", r"disk_read_rate: expected disk_read_us beside it"),
        (
            '[variants.x]\ndrive = "atlas10k"\nchannels = 2\n',
            r"variants\.toml: variants\.x: channels: expected disks without an arm; found atlas10k",
        ),
        (
            '[server]\ndrive = "atlas10k"\n[variants.x]\ndisk_read_us = 80\n',
            r"variants\.toml: variants\.x: disk_read_us: expected disks without an arm",
        ),
        (
            '[variants.x]\nread_ahead_most = "1M"\n',
            r"variants\.toml: variants\.x: read_ahead_most: expected read_ahead to be linux",
        ),
        (
            '[variants.x]\nlayout_hint = "HotDir"\n',
            r"variants\.toml: variants\.x: expected --model, a compiled image or a registry",
        ),
        ("[variants.now]\nthreads = 2\n", r"toml: variants\.now: expected another name"),
        ("[variants\n", r"variants\.toml: expected a TOML file"),
    ],
)
def test_a_file_that_asks_what_cannot_be_is_refused(
    tmp_path: Path, text: str, expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        questions(asked(tmp_path, text), [])


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("memory", r"--try memory: expected SETTING=VALUE, found 'memory'"),
        ("colour=blue", r"--try colour=blue: colour: "),
        ("memory=1G,memory=2G", r"memory=2G: expected each setting once, found two of memory"),
        ("threads=many", r"--try threads=many: threads: "),
        ("read_ahead=cleverly", r"--try read_ahead=cleverly: read_ahead: .*'slow_down'"),
        ("read_ahead_table=64", r"--try read_ahead_table=64: read_ahead_table: "),
        ("region=8M", r"--try region=8M: region: expected layout_hint to say what is hot"),
    ],
)
def test_an_option_that_asks_what_cannot_be_is_refused(option: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        questions(None, [option])


def test_a_setting_of_another_read_ahead_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"--try .*: expected read_ahead to be linux; found none"):
        questions(None, ["read_ahead_most=1M"])
    known = asked(tmp_path, '[server]\nread_ahead = "linux"\n')
    questions(known, ["read_ahead_most=1M"])
    with pytest.raises(ValueError, match=r"default4, slow_down, .*found linux"):
        questions(known, ["read_ahead_table=64/4"])


def test_given_disk_times_replace_the_assumed_ones(tmp_path: Path) -> None:
    text = '[variants.own]\nssd = true\ndisk_read_us = 60\ndisk_read_rate = "4G"\n'
    text += "[variants.faster]\ndisk_write_us = 20\n"
    found = questions(asked(tmp_path, text), []).variants
    own = found["own"].of(Server(drive="cheetah9LP"))
    assert (own.disk_read.median(), own.disk_read.ns_per_byte) == (60, 1e9 / (4 << 30))
    assert own.disk_write == SSD["disk_write"]
    before = Server(disk_read=Distribution.constant(500, 2))
    faster = found["faster"].of(before)
    assert (faster.disk_read, faster.disk_write.median()) == (before.disk_read, 20)
    known = questions(asked(tmp_path, "[server]\ndisk_read_us = 60\n"), []).known()
    assert known == {"disk_read": Distribution.constant(60)}
