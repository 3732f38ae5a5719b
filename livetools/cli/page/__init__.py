"""The server of the page of ``livetools web``. The page itself is TypeScript, in ``livetools/web``.

``asgi_app`` is the app: the files of the page, the relay to the model, data for developers. ``access_control`` decides
who may come. ``session_routes`` lists, reopens and deletes the sessions of the last day, and shows recordings;
``past_messages`` makes messages of the page from their frames. ``chosen_settings`` is the model, voice, language and
instructions that were chosen on the page.

In: HTTP requests, an opener of sessions, the sessions that were kept.
Out: an ASGI app.
"""
