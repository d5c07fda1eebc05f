"""A rename never removes a device, FIFO or symbolic link that is an output's or state's target."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from birthmark.data.common import durable, targets
from birthmark.data.common.descriptors import closing


def write_all(path: Path) -> None:
    """Write a path with each function of `durable` that writes a file."""
    with durable.replaced(path) as temporary:
        temporary.write_text("new")
    with durable.output(path) as temporary:
        temporary.write_text("new")
    with durable.opened_output(path) as file:
        file.write(b"new")
    durable.write_text(path, "new")


def node(path: Path, kind: int, major: int, minor: int) -> Path:
    """Make a device, as only the superuser may."""
    try:
        os.mknod(path, kind | 0o600, os.makedev(major, minor))
        with closing(os.open(path, os.O_WRONLY | os.O_NONBLOCK)):
            return path
    except PermissionError as error:
        pytest.skip(f"devices cannot be made or opened here: {error}")
    except OSError:  # no driver of that number; it is still a device
        return path


def test_a_symbolic_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_text("old")
    (tmp_path / "second").symlink_to("below/file")
    (tmp_path / "first").symlink_to(tmp_path / "second")
    os.link(tmp_path / "below" / "file", tmp_path / "old")
    write_all(tmp_path / "first")
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert (tmp_path / "below" / "file").read_text() == "new"
    assert (tmp_path / "old").read_text() == "old", "replaced, not overwritten"
    assert [path.name for path in (tmp_path / "below").iterdir()] == ["file"]


def test_a_link_to_a_free_name_gets_its_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("later")
    write_all(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "later").read_text() == "new"


def test_a_link_to_itself_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("link")
    for write in (durable.replaced, durable.output):
        with pytest.raises(OSError, match="symbolic links") as raised, write(tmp_path / "link"):
            pass
        assert raised.value.filename == str(tmp_path / "link")


def test_a_link_to_a_directory_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with durable.replaced(tmp_path / "link") as temporary:
        temporary.mkdir()
        (temporary / "part").write_text("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "part").read_text() == "x"


@pytest.mark.parametrize("linked", [False, True])
def test_a_character_device_is_written_to_and_stays(tmp_path: Path, linked: bool) -> None:
    device = path = node(tmp_path / "null", stat.S_IFCHR, 1, 3)  # as /dev/null
    if linked:
        path = tmp_path / "link"
        path.symlink_to(device)
    with durable.output(path) as temporary:
        temporary.write_text("new")
    with durable.opened_output(path) as file:
        file.write(b"new")
    assert stat.S_ISCHR(device.stat().st_mode)
    assert path.is_symlink() == linked


def test_a_terminal_gets_what_is_written() -> None:
    ours, theirs = os.openpty()
    with closing(ours), closing(theirs):
        with durable.output(Path(os.ttyname(theirs))) as temporary:
            temporary.write_text("new")
        assert os.read(ours, 100) == b"new"


def test_a_device_that_is_full_is_named(tmp_path: Path) -> None:
    device = node(tmp_path / "full", stat.S_IFCHR, 1, 7)  # as /dev/full
    with (
        pytest.raises(OSError, match="No space left") as raised,
        durable.output(device) as temporary,
    ):
        temporary.write_text("new")
    assert raised.value.filename == str(device)


def test_a_fifo_is_written_to_and_stays(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(fifo.read_bytes)
        with durable.output(fifo) as temporary:
            temporary.write_text("whole")
        assert read.result(timeout=60) == b"whole"
    assert fifo.is_fifo()


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_an_open_descriptor_is_written_to_where_it_stands(
    tmp_path: Path, path: str, kind: str
) -> None:
    (tmp_path / "link").symlink_to(path)
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from birthmark.data.common import durable\n"
        "print('before', flush=True)\n"
        "for path in sys.argv[1:]:\n"
        "    with durable.output(Path(path)) as temporary:\n"
        "        temporary.write_text('whole\\n')\n"
        "    with durable.opened_output(Path(path)) as file:\n"
        "        file.write(b'piece\\n')\n"
        "print('after')\n"
    )
    command = [sys.executable, "-c", program, path, str(tmp_path / "link")]
    if kind == "pipe":
        written = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    else:
        with (tmp_path / "out").open("wb") as out:
            subprocess.run(command, check=True, stdout=out)
        written = (tmp_path / "out").read_bytes()
    assert written.split() == [b"before", *[b"whole", b"piece"] * 2, b"after"]
    assert (tmp_path / "link").is_symlink()


def test_invalid_outputs_are_refused_and_stay(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for write in (durable.replaced, durable.output, durable.opened_output):
            with (
                pytest.raises(OSError, match="expected a regular file"),
                write(tmp_path / "socket"),
            ):
                pass
        with pytest.raises(OSError, match="expected a regular file"):
            targets.check_output(tmp_path / "socket")
        assert (tmp_path / "socket").is_socket()


def test_a_block_device_is_never_written_to(tmp_path: Path) -> None:
    disk = node(tmp_path / "disk", stat.S_IFBLK, 240, 17)
    for write in (durable.replaced, durable.output, durable.opened_output):
        with pytest.raises(OSError, match="expected a regular file"), write(disk):
            pass
    assert disk.is_block_device()


def test_a_state_that_is_replaced_must_be_a_regular_file(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(OSError, match="since it is replaced") as raised:
        durable.write_text(fifo, "state")
    assert raised.value.filename == str(fifo)
    with pytest.raises(OSError, match="since it is replaced"):
        durable.write_text(Path("/proc/self/fd/1"), "state")
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]
    assert fifo.is_fifo()
