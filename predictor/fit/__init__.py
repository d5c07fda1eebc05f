"""Training, and the calibration of thresholds."""
