"""What is said over HTTP in JSON: requests, responses, and the one shape of every error."""
