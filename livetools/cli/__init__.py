"""livetools.cli"""
