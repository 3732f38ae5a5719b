"""The sound of telephones: bytes in, bytes out, with no provider and no session.

``codec`` is G.711 and L16, ``tones`` the tones of a keypad (DTMF) and the sound for a caller who waits. ``reorder``
puts frames in order again that came out of order. ``call_recording`` writes both sides of a call into a stereo WAV.

In: encoded sound of a line, PCM of the caller and the model.
Out: PCM and encoded sound at the rate of the line, keys that were heard, a WAV file.
"""
