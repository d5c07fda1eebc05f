"""``python -m birthmark`` is ``birthmark``."""

from birthmark.cli import main

main()
