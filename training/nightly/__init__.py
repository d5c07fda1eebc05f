"""The nightly run, and its steps.

It takes in new traces, trains a candidate, compares it with the published model, writes its card,
and publishes it or keeps it aside.
"""
