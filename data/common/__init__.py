"""What every folder may use and none owns.

Files written whole or not at all, locks, the words that people type and read (sizes, durations,
counts, percentages), the reasons why settings are refused, and the style of plots.
"""
