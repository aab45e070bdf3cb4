"""The written record of a partition."""
