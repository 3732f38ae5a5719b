"""Checks: documents are read part by part, and each rule is asked where it applies.

``document`` is the entry: it takes a document or a text, and ``document_kind`` detects what it is. ``conversations``
checks a list of contents, ``declarations`` the declarations of tools, ``live_frames`` messages of a Live session,
``generated_responses`` what ``generateContent`` returned. A single function response is checked in ``builders``.

In: JSON, from anywhere.
Out: entries in a checklist, and a report of them. A check never raises for what it finds.
"""
