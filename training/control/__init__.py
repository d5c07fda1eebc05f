"""The thresholds of the published models, moved by what a follower sees, for services to obey."""
