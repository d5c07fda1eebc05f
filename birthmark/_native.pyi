"""The compiled part of Birthmark. See ``native/`` for its source."""

__version__: str
