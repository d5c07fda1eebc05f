"""Limits of a worker: concurrent requests, bytes of bodies in transfer, and queued work."""
