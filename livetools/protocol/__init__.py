"""A session without a socket. Pure and synchronous: no event loop, no clock, no environment."""
