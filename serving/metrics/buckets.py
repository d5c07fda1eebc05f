"""The buckets of the histograms."""

# A kernel's helper waits milliseconds, and a list of thousands takes a second or more.
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
"""Upper bounds of the times of requests, seconds."""
