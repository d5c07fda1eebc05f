"""Traces in, and the tables that are made of them."""
