"""Receives the live history from a follower on another host."""
