"""Metrics for Prometheus: the service's own, and those that helpers of hooks report."""
