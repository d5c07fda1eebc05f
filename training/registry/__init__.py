"""Trained models that are kept: versions, the pointer to the published one, what is known of both.

A registry lies in a directory or in an object store.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.training.registry.manifests import RegistryError as RegistryError
    from birthmark.training.registry.versions import Registry as Registry
    from birthmark.training.registry.versions import is_remote as is_remote

__getattr__, __all__ = offered(
    __name__,
    {
        "birthmark.training.registry.manifests": ["RegistryError"],
        "birthmark.training.registry.versions": ["Registry", "is_remote"],
    },
)
