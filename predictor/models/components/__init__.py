"""What models have in common that count the components of names."""
