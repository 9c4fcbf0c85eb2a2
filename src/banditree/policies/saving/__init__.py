"""Policies in files: writing, appending, and reading them again."""
