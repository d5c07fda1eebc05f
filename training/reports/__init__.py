"""Results for people: HTML pages, tables for a terminal, and a figure of all models."""
