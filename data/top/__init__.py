"""The current load of a server: the busiest users, clients, directories and files."""
