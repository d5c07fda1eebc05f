"""How much a worker takes on at once: requests, bytes of bodies, and work that waits in line."""
