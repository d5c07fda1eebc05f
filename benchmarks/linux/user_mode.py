"""F2FS in a kernel that runs as a program, Debian's package ``user-mode-linux``.

Its code of file systems is that of other kernels, and runs as it is, where a virtual machine
translates it: a load takes a third of the time of a processor. It answers and ends as the machine
(``machine.py``) does, but its disks are ``ubda`` and ``ubdb``, and it has no debugfs.

On a processor with AVX-512, Debian's version panicked at its start ("ptrace set fp regs failed").
Tests use the virtual machine.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.linux.kernel import Kernel, MachineError, make_initial
from benchmarks.linux.machine import printed_by

PACKAGE = Path("/usr")
"""Folder of the unpacked package."""


class UserMode(Kernel):
    """The kernel that runs as a program, which has no modules for disks."""

    def needed(self, names: Sequence[str]) -> list[Path]:
        """Return the files of the modules ``names``, each behind those that it needs."""
        return super().needed([name for name in names if not name.startswith("virtio")])

    def _built_in(self) -> list[str]:
        return []


def find_user_mode(package: Path = PACKAGE) -> UserMode:
    """Return the kernel of the package, which is unpacked in a folder.

    Raises ``MachineError`` where it is not.
    """
    program = package / "bin/linux.uml"
    versions = sorted(path.parent for path in package.glob("lib/uml/modules/*/modules.dep"))
    if not program.is_file() or not versions:
        raise MachineError(f"{program}: expected the package user-mode-linux")
    return UserMode(program, versions[-1])


def run(
    script: str,
    disk: Path,
    scratch: Path,
    programs: Sequence[Path],
    load: Path,
    package: Path = PACKAGE,
    seconds: float = 3600,
) -> str:
    """Run a script in the kernel, and return what it printed (see ``machine.run``)."""
    kernel, initial = find_user_mode(package), scratch / "initial.cpio"
    make_initial(initial, script.replace("/vd", "/ubd"), programs, kernel)
    command = [str(kernel.image), "mem=1G", f"initrd={initial}", f"ubd0={disk}", f"ubd1r={load}"]
    command += ["con=null", "con0=null,fd:1", "quiet", "panic=-1"]
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={"HOME": str(scratch), "TMPDIR": "/dev/shm"},
        )
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"expected the end of the script within {seconds:g} s") from error
    return printed_by(ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace"))
