"""Traces without the names of people and machines (thesis section 3.6.1).

Users, groups, hosts and names are replaced at random, each always by the same pseudonym. Nothing
can be computed from a pseudonym; only the holder of the mapping can undo it. The work is done by
``native/tables/src/anonymize``.

A name is mapped piece by piece, so models find the same structure in the anonymized trace, and are
right as often:

- It is cut at its periods, a path at its slashes too. The pieces of one text have one image
  wherever they stand, so files with one suffix have names with one suffix.
- ``#``, ``~``, ``,`` and ``,v`` at the ends of a piece stay: ``x``, ``.x``, ``#x#``, ``x~`` and
  ``x,v`` remain each other's.
- Two pieces begin with the same one to five bytes if and only if their images do, and pieces of
  up to five bytes keep their length; longer ones become eleven bytes. Less would not do: the first
  five bytes of a name are a component of it (Figure 6.2), and may end within any of its pieces.
  ``prefix = false`` gives that up: then nothing but equality of whole pieces is left, and name
  models must be trained without the prefix component.
- No two names, ids or hosts ever have one image, those that stay as they are included.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.data.anonymize.columns import treatments as treatments
    from birthmark.data.anonymize.mapping_file import MappingError as MappingError
    from birthmark.data.anonymize.mapping_file import open_mapping as open_mapping
    from birthmark.data.anonymize.run import Summary as Summary
    from birthmark.data.anonymize.run import anonymize as anonymize
    from birthmark.data.anonymize.settings import Settings as Settings
    from birthmark.data.anonymize.settings import read_settings as read_settings

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.data.anonymize.columns": ["treatments"],
        "birthmark.data.anonymize.mapping_file": ["MappingError", "open_mapping"],
        "birthmark.data.anonymize.run": ["Summary", "anonymize"],
        "birthmark.data.anonymize.settings": ["Settings", "read_settings"],
    },
)
