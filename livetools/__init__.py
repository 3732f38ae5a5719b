"""Tool calling over the Gemini Live API: give a live voice or text model Python functions for hands."""
