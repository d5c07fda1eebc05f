"""Results as people read them: HTML pages, tables for a terminal, and a figure of all models."""
