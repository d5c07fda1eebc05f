"""A simulated server: fitted to its own traffic, and compared with variants of it."""
