"""Replaying a day on one file system under one policy: inputs and results of a run."""
