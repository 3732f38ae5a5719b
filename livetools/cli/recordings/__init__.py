"""Conversations that are kept: in memory, on disk for the page, as a recording, and as a pytest test.

``frame_history`` keeps the frames of sessions that are open, ``session_files`` those of the last day on disk.
``save_recording`` is ``--save`` of ``chat`` and ``voice``. ``pytest_export`` writes a conversation as a test, with the
script for the fake service that ``script_from_frames`` makes.

In: the frames between a session and the service, and the target that they were recorded with.
Out: files of recordings and of tests, and the frames for those who ask again.
"""
