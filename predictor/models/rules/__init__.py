"""Lists of rules about the components of names."""
