"""User input (text, audio, video, push-to-talk) until it was read: formats, the queue, what is sent again after a loss.

``input_queue`` holds what cannot be written now, and drops media while a call blocks. ``resend`` remembers what was
handed to a connection and might not have been read. ``audio_format`` and ``image_format`` check what a user passes.

In: text and media of the user; what the server proves to have read; lost connections.
Out: frames in order, receipts, and counts of dropped media. Text is never lost without an error; media may be.
"""
