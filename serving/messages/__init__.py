"""The messages of the service in JSON: requests, responses and errors."""
