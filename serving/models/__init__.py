"""A published version as the service uses it: loaded, checked, and shared by its workers."""
