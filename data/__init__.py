"""Traces in, and the tables that are made of them.

`schema` says what each table's columns mean. `traces` reads, `lives` follows files and names,
`ingest` makes datasets, which `datasets` writes and reads; `dump`, `scan`, `replay` and `anonymize`
make something else of traces or datasets, and `workloads` generates traces. `common` is what every
folder may use.
"""
