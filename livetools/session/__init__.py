"""livetools.session"""
