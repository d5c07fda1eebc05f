"""What is known of a file at the moment it is created."""
