"""The rules of the formats, and what a check reports of them.

``by_id`` is the table of all rules, with the explanation of one. The rows stand in ``sent`` (what a client sends) and
``received_and_tools``; ``rule`` is their type. ``findings`` are the places where rules do not hold, the checklist that
collects them, and the report. ``known_fields`` asks one rule everywhere: no object has an unknown name.

In: questions of the checks: whether a rule held, at a place in a document.
Out: a report, with the service's own words and what to do. Nothing here reads a whole document.
"""
