"""One module a neighbour, each imported by whoever uses it; none is imported by livetools itself."""
