"""The rules, as YAML files, loaded and checked; annotation forms."""

from .model import Form, Protocol, Select, Split, Subset

__all__ = ["Form", "Protocol", "Select", "Split", "Subset"]
