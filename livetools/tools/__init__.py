"""livetools.tools"""
