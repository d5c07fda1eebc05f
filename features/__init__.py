"""What is known of a file at the moment it is created."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered
from birthmark.features.components import component_text, name_components
from birthmark.features.creates import (
    CREATES,
    from_directories,
    from_files,
    from_names,
    from_requests,
)
from birthmark.features.directories import DIRECTORIES, directories_of, seen_before
from birthmark.features.history import HISTORY, HISTORY_BYTES, History
from birthmark.features.pieces import name_pieces

if TYPE_CHECKING:
    from birthmark.features.transformer import NamePieces

__all__ = [
    "CREATES",
    "DIRECTORIES",
    "HISTORY",
    "HISTORY_BYTES",
    "History",
    "NamePieces",
    "component_text",
    "directories_of",
    "from_directories",
    "from_files",
    "from_names",
    "from_requests",
    "name_components",
    "name_pieces",
    "seen_before",
]

__getattr__ = offered(__name__, {"NamePieces": "birthmark.features.transformer"})  # slow to import
