"""One program per claim of speed or accuracy. Each prints a small table and writes JSON."""
