"""A storage simulator, and its drives' errors against measured drives."""
