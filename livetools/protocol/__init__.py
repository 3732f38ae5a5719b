"""livetools.protocol"""
