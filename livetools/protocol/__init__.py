"""A session without a socket: pure and synchronous, no event loop, no clock, no environment."""
