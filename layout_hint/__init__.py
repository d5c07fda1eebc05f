"""Steering the allocator of a file system with predictions."""
