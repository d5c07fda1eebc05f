"""The processes of the service: one that listens and keeps the others, and those that answer."""
