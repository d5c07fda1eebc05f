"""Answers to request bodies, in JSON and in Arrow, and their evidence in words."""
