"""Read traces, and make tables of them.

`schema` documents each table's columns. `traces` reads, `lives` follows files and names, `ingest`
makes datasets, which `datasets` writes and reads. `dump`, `scan` and `anonymize` convert traces or
datasets. `common` is shared by every folder.
"""
