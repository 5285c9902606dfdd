"""A file for each command, and a folder for each command that has actions."""
