"""A person at the terminal: what is printed, typed, pressed, approved, and heard by the microphone.

``printing`` prints a conversation and makes text harmless for a terminal, ``line_input`` reads lines with editing and
history, ``keyboard`` single keys. ``waiting_events`` holds the events that wait to be shown. ``ask_approval`` shows a
call and asks whether it may run. ``meter_and_push_to_talk`` shows how loud the microphone is, and mutes it until a key
is pressed.

In: events of a session, lines, keys, sound.
Out: lines on the terminal, what was typed, a decision about a call, sound for the model.
"""
