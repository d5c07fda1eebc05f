"""The process of the service: native threads that answer, the application, and a follower."""
