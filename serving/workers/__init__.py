"""The processes of the service: a supervisor that listens, its workers, and a follower."""
