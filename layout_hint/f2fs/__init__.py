"""F2FS, which places files by their suffixes at create: learning its lists of suffixes."""
