"""The compiled part of Birthmark. See ``native/`` for its source."""

import pyarrow as pa

__version__: str

def name_components(name: bytes, prefix: bool) -> list[bytes]:
    """Return the set of components of a file name (thesis Figure 6.2).

    Each is a regular expression: the whole name, its first and last piece, the pieces between
    them in byte order, and with ``prefix`` the first five bytes of a longer name.
    """

def count_components(names: pa.Array, labels: pa.Array, prefix: bool) -> pa.RecordBatch:
    """Count the components of a column of names (steps 1a to 1c of thesis Figure 6.3).

    ``names`` is binary and ``labels`` boolean, equally long; rows in which either is null are left
    out. The batch has ``component`` (binary, in byte order), ``n_a`` and ``n_m`` (uint64): in how
    many names it occurs, and in how many of those whose label is true.
    """

def match_components(names: pa.Array, rules: pa.Array, prefix: bool) -> pa.Array:
    """Return for each name the index (int32) of the first rule among its components, else null.

    ``names`` and ``rules`` are binary; a rule is a component as ``name_components`` writes it,
    and anything else raises ``ValueError``.
    """
