"""The nightly run, and its steps.

It ingests new traces, trains a candidate, compares it with the published model, writes its card,
and publishes it or sets it aside.
"""
