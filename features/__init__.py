"""What is known of a file at the moment it is created."""

from features.components import component_text, name_components
from features.creates import CREATES, from_files, from_names, from_requests
from features.history import HISTORY, HISTORY_BYTES, History
from features.pieces import NamePieces, name_pieces

__all__ = [
    "CREATES",
    "HISTORY",
    "HISTORY_BYTES",
    "History",
    "NamePieces",
    "component_text",
    "from_files",
    "from_names",
    "from_requests",
    "name_components",
    "name_pieces",
]
