"""The Live API as the service has it: what it takes, what it refuses, and one conversation with a client."""
