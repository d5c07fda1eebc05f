"""Training, evaluation, the registry and the nightly run."""
