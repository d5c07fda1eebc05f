"""Trained models that are kept: versions, the pointer to the published one, what is known of both.

A registry lies in a directory or in an object store.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.training.registry.manifests import RegistryError
    from birthmark.training.registry.versions import Registry, is_remote

_HOMES = {
    "Registry": "birthmark.training.registry.versions",
    "RegistryError": "birthmark.training.registry.manifests",
    "is_remote": "birthmark.training.registry.versions",
}

__all__ = [
    "Registry",
    "RegistryError",
    "is_remote",
]

__getattr__ = offered(__name__, _HOMES)
