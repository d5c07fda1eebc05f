"""Hints for a file system's allocator."""
