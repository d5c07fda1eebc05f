"""Improvements of a server: its unknowns fitted to its own traffic, and variants compared."""
