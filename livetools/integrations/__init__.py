"""livetools.integrations"""
