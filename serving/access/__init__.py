"""Access control: tokens and their scopes, host names, and the guard of every request."""
