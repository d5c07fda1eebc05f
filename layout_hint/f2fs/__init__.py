"""F2FS, which places files by their names at create: its lists of suffixes, learned."""
