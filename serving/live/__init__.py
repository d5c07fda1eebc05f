"""The live history of a follower on another host, as it comes."""
