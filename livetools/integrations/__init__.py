"""Connects livetools to other libraries: one module for each. livetools does not import them by itself."""
