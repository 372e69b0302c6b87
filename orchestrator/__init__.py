"""The agent loop and the `kernelvault` command: a thin client of the services."""
