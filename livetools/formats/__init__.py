"""livetools.formats"""
