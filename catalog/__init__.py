"""Release files become items: one card and one reader a dataset; replicas; attributes."""

from .items import Items, ReadReport, Source

__all__ = ["Items", "ReadReport", "Source"]
