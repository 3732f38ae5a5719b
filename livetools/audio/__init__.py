"""livetools.audio"""
