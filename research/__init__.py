"""Simulations behind published claims: measured drives, block traces, papers on storage."""
