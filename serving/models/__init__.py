"""A published version as the service uses it: loaded and checked."""
