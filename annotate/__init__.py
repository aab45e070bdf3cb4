"""Votes become labels, with known agreement."""
