"""livetools.testing"""
