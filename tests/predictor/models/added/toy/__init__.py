"""A kind of models that says how often it was yes, whatever it is asked about."""
