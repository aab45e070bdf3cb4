"""Release files become items: one card and one reader a dataset; replicas; attributes."""

from .attributes import join_attributes
from .cards import AttributeCard, Card, TaskCard, card_names, find_card, load_card
from .fair_consistent import release_items
from .items import Items, ReadReport, Source
from .load import DATA_VARIABLE, load_items
from .plain import read_plain
from .reconcile import reconcile
from .replicas import PublishedCount, has_replica, published_counts, replica_items

__all__ = [
    "DATA_VARIABLE",
    "AttributeCard",
    "Card",
    "Items",
    "PublishedCount",
    "ReadReport",
    "Source",
    "TaskCard",
    "card_names",
    "find_card",
    "has_replica",
    "join_attributes",
    "load_card",
    "load_items",
    "published_counts",
    "read_plain",
    "reconcile",
    "release_items",
    "replica_items",
]
