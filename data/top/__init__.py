"""What loads a server now: the busiest users, clients, directories and files of its traffic."""
