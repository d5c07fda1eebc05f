"""What the service writes down: its own log, and the log of the predictions that it served."""
