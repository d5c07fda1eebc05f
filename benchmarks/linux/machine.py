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
from dataclasses import dataclass
from pathlib import Path

QEMU, BUSYBOX, CPIO = "qemu-system-x86_64", "busybox", "cpio"
MODULES = ("virtio_pci", "virtio_blk", "crc32_generic", "f2fs")
"""What the machine loads: its disks, and F2FS with the checksums that it asks for."""

_APPLETS = ("sh", "mount", "umount", "insmod", "cat", "poweroff")
_BEGIN, _END = "birthmark: begins", "birthmark: ends"
_INIT = """#!/bin/sh
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
mount -t debugfs none /sys/kernel/debug
{modules}
echo {begin}
{script}
echo "{end} $?"
poweroff -f
"""


class MachineError(RuntimeError):
    """The machine cannot be made, or did not come to the end of its script."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of Debian's, and the folder with its modules."""

    image: Path
    modules: Path

    def needed(self, names: Sequence[str]) -> list[Path]:
        """Return the files of the modules ``names``, each behind those that it needs.

        What is built into the kernel has none. Raises ``MachineError`` for what it does not have.
        """
        lines = (self.modules / "modules.dep").read_text().splitlines()
        needs = {where: behind.split() for where, behind in (line.split(":") for line in lines)}
        places = {Path(where).stem: where for where in needs}
        built_in = {Path(each).stem for each in self._built_in()}
        found: dict[str, None] = {}
        for name in names:
            if name in built_in:
                continue
            if name not in places:
                raise MachineError(f"{self.modules}: expected the module {name}")
            found |= dict.fromkeys([*reversed(needs[places[name]]), places[name]])
        return [self.modules / each for each in found]

    def _built_in(self) -> list[str]:
        return (self.modules / "modules.builtin").read_text().splitlines()


def find_kernel() -> Kernel:
    """Return the newest kernel of Debian's that is installed.

    Raises ``MachineError`` where there is none.
    """
    images = sorted(Path("/boot").glob("vmlinuz-*-amd64"), key=lambda each: each.stat().st_mtime)
    for image in reversed(images):
        modules = Path("/lib/modules") / image.name.removeprefix("vmlinuz-")
        if (modules / "modules.dep").exists():
            return Kernel(image, modules)
    raise MachineError("/boot: expected a kernel of the package linux-image-amd64")


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


def make_initial(out: Path, script: str, programs: Sequence[Path], kernel: Kernel) -> None:
    """Write the initial file system of a machine that runs ``script`` in busybox's shell.

    ``programs`` are static, and lie in ``/bin``.
    """
    root = out.with_suffix(".root")
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("bin", "dev", "lib", "mnt", "proc", "sys", "tmp"):
        (root / folder).mkdir(parents=True)
    shutil.copy(str(shutil.which(BUSYBOX)), root / "bin/busybox")
    for applet in _APPLETS:
        (root / "bin" / applet).symlink_to("busybox")
    for program in programs:
        shutil.copy(program, root / "bin")
    modules = kernel.needed(MODULES)
    for module in modules:
        shutil.copy(module, root / "lib")
    load = "\n".join(f"insmod /lib/{module.name}" for module in modules)
    init = root / "init"
    init.write_text(_INIT.format(modules=load, begin=_BEGIN, script=script, end=_END))
    init.chmod(0o755)
    names = "\n".join(str(each.relative_to(root)) for each in sorted(root.rglob("*")))
    with out.open("wb") as file:
        subprocess.run(
            [CPIO, "--quiet", "-o", "-H", "newc"],
            cwd=root, input=names.encode(), stdout=file, check=True,
        )  # fmt: skip
    shutil.rmtree(root)


def run(
    script: str,
    disk: Path,
    scratch: Path,
    programs: Sequence[Path] = (),
    load: Path | None = None,
    memory: str = "1G",
    seconds: float = 3600,
) -> str:
    """Run a script in a new machine, and return what it printed.

    Args:
        script: commands of busybox's shell; ``/dev/vda`` is the disk, ``/dev/vdb`` the load.
        disk: the image of the disk, which is written to.
        scratch: a folder for the initial file system.
        programs: static programs that the script calls.
        load: a file that the machine's programs read.
        memory: of the machine, as QEMU has it.
        seconds: after which the machine is stopped.

    Raises:
        MachineError: packages are missing, the script failed, or it did not end in time.
    """
    if lacking := missing():
        raise MachineError(f"expected the packages {', '.join(lacking)}")
    kernel, initial = find_kernel(), scratch / "initial.cpio"
    make_initial(initial, script, programs, kernel)
    command = [
        QEMU, "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio",
        "-accel", "tcg", "-cpu", "qemu64", "-m", memory,
        "-kernel", str(kernel.image), "-initrd", str(initial),
        # A busy host is too slow for the kernel's test of its timer.
        "-append", "console=ttyS0 quiet panic=-1 no_timer_check",
        *_drive(disk, "cache=unsafe,discard=unmap"),
    ]  # fmt: skip
    if load is not None:
        command += _drive(load, "readonly=on")
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"expected the end of the script within {seconds:g} s") from error
    return printed_by(ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace"))


def _drive(image: Path, options: str) -> list[str]:
    return ["-drive", f"file={image},if=virtio,format=raw,{options}"]


def printed_by(text: str, errors: str) -> str:
    """Return what a script printed, if it came to a good end."""
    text = text.replace("\r", "")
    _, begun, printed = text.partition(f"{_BEGIN}\n")
    printed, ended, status = printed.partition(f"{_END} ")
    if not begun or not ended or status.split("\n")[0] != "0":
        raise MachineError(f"expected a script that ends with 0; found\n{errors}{text[-4000:]}")
    return printed
