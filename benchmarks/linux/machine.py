"""A virtual machine with Debian's kernel, to try a file system of Linux in.

QEMU translates its instructions, so that it runs wherever QEMU does. The kernel and its modules are
those of the package ``linux-image-amd64``; the rest is an initial file system of busybox, static
programs and one script. The machine has two disks: what is tried, and a file that its programs
read. It answers over its serial console, and ends by itself.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.linux.kernel import (
    BEGIN,
    BUSYBOX,
    CPIO,
    END,
    Kernel,
    MachineError,
    find_kernel,
    make_initial,
)

QEMU = "qemu-system-x86_64"


def missing() -> list[str]:
    """Return the Debian packages that the machine needs and that are not here."""
    programs = {
        "qemu-system-x86": QEMU,
        "busybox-static": BUSYBOX,
        "cpio": CPIO,
        "f2fs-tools": "mkfs.f2fs",
    }
    lacking = [package for package, program in programs.items() if not shutil.which(program)]
    try:
        find_kernel()
    except MachineError:
        lacking.append("linux-image-amd64")
    return lacking


def run(
    script: str,
    disk: Path,
    scratch: Path,
    programs: Sequence[Path] = (),
    load: Path | None = None,
    memory: str = "1G",
    seconds: float = 3600,
    modules: Sequence[str] = (),
) -> str:
    """Run a script in a new machine, and return what it printed.

    Args:
        script: commands of busybox's shell; ``/dev/vda`` is the disk, ``/dev/vdb`` the load.
        disk: the image of the disk, which is written to.
        scratch: a folder for the initial file system.
        programs: static programs that the script calls, and files that they read: all are in
            ``/bin``.
        load: a file that the machine's programs read.
        memory: of the machine, as QEMU has it.
        seconds: after which the machine is stopped.
        modules: of the kernel, which are loaded behind those of disks and of F2FS.

    Raises:
        MachineError: packages are missing, the script failed, or it did not end in time.
    """
    if lacking := missing():
        raise MachineError(f"expected the packages {', '.join(lacking)}")
    kernel, initial = find_kernel(), scratch / "initial.cpio"
    make_initial(initial, script, programs, kernel, modules)
    command = _command(kernel, initial, disk, load, memory)
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"expected the end of the script within {seconds:g} s") from error
    return printed_by(ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace"))


def _command(
    kernel: Kernel, initial: Path, disk: Path, load: Path | None, memory: str
) -> list[str]:
    """Return the command that is the machine."""
    return [
        QEMU,
        *("-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-accel", "tcg", "-cpu", "qemu64", "-m", memory),
        *("-kernel", str(kernel.image), "-initrd", str(initial)),
        # A busy host is too slow for the kernel's test of its timer.
        *("-append", "console=ttyS0 quiet panic=-1 no_timer_check"),
        *_drive(disk, "cache=unsafe,discard=unmap"),
        *([] if load is None else _drive(load, "readonly=on")),
    ]


def _drive(image: Path, options: str) -> list[str]:
    return ["-drive", f"file={image},if=virtio,format=raw,{options}"]


def printed_by(text: str, errors: str) -> str:
    """Return a script's output, if it succeeded."""
    text = text.replace("\r", "")
    _, begun, printed = text.partition(f"{BEGIN}\n")
    printed, ended, status = printed.partition(f"{END} ")
    if not begun or not ended or status.split("\n")[0] != "0":
        raise MachineError(f"expected a script that ends with 0; found\n{errors}{text[-4000:]}")
    return printed
