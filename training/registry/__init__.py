"""The registry of trained models: versions, the pointer to the published one, and facts about them.

A registry is in a directory or in an object store.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.training.registry.manifests import RegistryError as RegistryError
    from birthmark.training.registry.versions import Registry as Registry
    from birthmark.training.registry.versions import is_remote as is_remote

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.training.registry.manifests": ["RegistryError"],
        "birthmark.training.registry.versions": ["Registry", "is_remote"],
    },
)
