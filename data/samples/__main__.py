"""Run ``python -m birthmark.data.samples``."""

from birthmark.data.samples import main

main()
