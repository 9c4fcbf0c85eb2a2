"""Policies of this library and of others, in one run."""
