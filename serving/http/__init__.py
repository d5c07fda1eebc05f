"""Connections: listened for, let in, encrypted, parsed, and held to limits of time and size."""
