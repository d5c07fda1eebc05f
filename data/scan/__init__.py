"""Operation counts and the map of files: the function of Ellard's ``nfsscan`` and its helpers.

Thesis 3.6.2 and 3.6.3. :func:`scan` counts the operations of traces; the others convert tables of
such counts (:func:`birthmark.data.scan.tables.counts_schema`).
"""

from birthmark.data.scan.count import Plan, ScanSummary, scan
from birthmark.data.scan.tables import COUNTS, FILES, KEYS, counts_schema

__all__ = ["COUNTS", "FILES", "KEYS", "Plan", "ScanSummary", "counts_schema", "scan"]
