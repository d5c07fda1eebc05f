"""Features: the data known about a file at the moment of its create."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.features.components import component_text as component_text
    from birthmark.features.components import name_pieces as name_pieces
    from birthmark.features.creates import CREATES as CREATES
    from birthmark.features.creates import from_directories as from_directories
    from birthmark.features.creates import from_files as from_files
    from birthmark.features.creates import from_names as from_names
    from birthmark.features.creates import from_requests as from_requests
    from birthmark.features.directories import DIRECTORIES as DIRECTORIES
    from birthmark.features.directories import directories_of as directories_of
    from birthmark.features.directories import seen_before as seen_before
    from birthmark.features.history import HISTORY as HISTORY
    from birthmark.features.history import HISTORY_BYTES as HISTORY_BYTES
    from birthmark.features.history import History as History
    from birthmark.features.transformer import NamePieces as NamePieces
    from birthmark_native import name_components as name_components

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.features.components": ["component_text", "name_pieces"],
        "birthmark.features.creates": [
            "CREATES",
            "from_directories",
            "from_files",
            "from_names",
            "from_requests",
        ],
        "birthmark.features.directories": ["DIRECTORIES", "directories_of", "seen_before"],
        "birthmark.features.history": ["HISTORY", "HISTORY_BYTES", "History"],
        "birthmark.features.transformer": ["NamePieces"],
        "birthmark_native": ["name_components"],
    },
)
