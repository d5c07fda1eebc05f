"""The service's web page: its model, its traffic, and its accuracy by audits."""
