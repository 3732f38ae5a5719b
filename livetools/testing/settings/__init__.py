"""What a test sets on a fake server: how it misbehaves, its time limits, its clock.

``fault_switches`` says what goes wrong by itself, and how often; ``testing/live/fault_injection.py`` carries it out.
``time_limits`` says when goAway comes, and how long a handle lasts. ``fake_clock`` is a clock that a test moves.
``vad`` detects where the user begins and ends to speak; a test may bring a detector of its own.

In: the values that a test or a command gives; for the clock, how far it moves; for the detector, audio.
Out: the same values, checked; the faults that are drawn; the time; the edges of speech.
"""
