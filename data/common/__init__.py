"""Code shared by every folder.

Atomic file writes, locks, the parsing and formatting of sizes, durations, counts and percentages,
messages about refused settings, and the style of plots.
"""
