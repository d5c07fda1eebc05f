"""The service's logs: its own, and that of the predictions served."""
