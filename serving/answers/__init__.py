"""From a request's body to its answer, in JSON and in Arrow; and evidence in words."""
