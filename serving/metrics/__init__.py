"""What the service tells Prometheus: its own figures, and those that helpers of hooks report."""
