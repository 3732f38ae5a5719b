"""The Live API side of the fake: what it accepts and refuses, and one conversation with a client."""
