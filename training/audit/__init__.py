"""What was served, compared with what a later trace shows became of the files."""
