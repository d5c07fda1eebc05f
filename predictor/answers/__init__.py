"""What is answered, by how sure models are."""
