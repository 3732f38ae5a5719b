"""The only room that awaits: tasks, sockets and threads around the pure machine."""
