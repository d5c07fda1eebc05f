"""A published version as the service holds it: loaded, checked, and shared by its workers."""
