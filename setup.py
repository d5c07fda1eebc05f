"""The extension modules: the core's, and one of each folder that is here.

EXTENSIONS names the folders of those to build; all, if it is not set.
"""

import os
from pathlib import Path

from setuptools import setup
from setuptools_rust import Binding, RustExtension

CORE = "native"
manifests = {path.parts[0]: path for path in sorted(Path().glob("*/python/Cargo.toml"))}
chosen = os.environ.get("EXTENSIONS", " ".join(manifests)).split()

setup(
    rust_extensions=[
        RustExtension(
            "birthmark_native._native" if folder == CORE else f"birthmark.{folder}.native",
            str(manifests[folder]),
            args=["--locked"],
            binding=Binding.PyO3,
            py_limited_api=True,
        )
        for folder in chosen
    ]
)
