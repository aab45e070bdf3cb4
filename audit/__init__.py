"""Findings on a partition, and scores of predictions."""
