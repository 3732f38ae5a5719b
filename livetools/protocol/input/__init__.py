"""User input: text, audio and video, until it was read or its loss was reported.

``queue`` holds what cannot be written now. ``outbox`` remembers what was handed to a connection and might not have been
read; after a loss it decides what is sent again. ``pcm`` and ``images`` check what a user passes.

In: text and media of the user; what the server proves to have read; lost connections.
Out: frames in order, receipts, and counts of dropped media. Text is never lost without an error; media may be.
"""
