"""Who may ask what: tokens and their scopes, names of hosts, and the guard of every request."""
