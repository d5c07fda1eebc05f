"""Training, and the choice of thresholds on births that were held out."""
