"""Recordings of sessions: the file of frames, and the names that stand for session handles in it.

``jsonl_file`` writes and reads the file, one frame a line, and says how two recordings differ. ``handle_stand_ins``
replaces session handles, which open conversations: none may be found in a recording.

In: frames with their time, direction and connection; the path of a file.
Out: the file, without secrets, and if wanted without media; the frames of a file; differences, in words.

``testing/recording_proxy.py`` records between a client and the service, ``testing/recording_playback.py`` plays one.
"""
