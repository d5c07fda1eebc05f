"""What answers requests: the model of the moment, and all that the service's paths work with."""
