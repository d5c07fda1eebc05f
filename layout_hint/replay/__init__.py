"""A day, replayed on one file system under one policy: what goes into a run, and what it gives."""
