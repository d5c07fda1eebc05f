"""The service's own page: what answers, how it is asked, and whether it is still right."""
