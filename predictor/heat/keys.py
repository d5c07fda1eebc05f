"""The keys by which similar creates are grouped."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.features import name_pieces
from birthmark.features.columns import decoded
from birthmark.features.components import PREFIX
from birthmark.features.history import shape


def keys_of(creates: pa.Table) -> pa.Table:
    """Return the keys of each row of ``creates`` (``features.CREATES``).

    ``suffix`` is the text after the name's last period, or empty; ``prefix`` its first five bytes,
    as in the thesis's components; ``shape`` the name with numbers and random words folded
    (``features.history.shape``). ``name``, ``dir_name``, ``dir_fh`` and ``uid`` are unchanged.
    """
    names = decoded(creates["name"])
    suffix = pc.coalesce(name_pieces(names)["last"], pc.binary_slice(names, 0, 0))
    keys = {
        "suffix": suffix,
        "prefix": pc.binary_slice(names, 0, PREFIX),
        "shape": shape(names),
    }
    return pa.table(keys | {c: creates[c] for c in ("name", "dir_name", "dir_fh", "uid")})
