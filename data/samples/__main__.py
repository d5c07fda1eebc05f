"""Run ``python -m data.samples``."""

from data.samples import main

main()
