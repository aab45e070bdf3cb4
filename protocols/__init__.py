"""The rules, as YAML files, loaded and checked; annotation forms."""

from .forms import active, cut_years, region, scaled
from .load import SCORES, load_protocol, override, parse_protocol, protocol_names
from .model import Form, Protocol, Select, Split, Subset

__all__ = [
    "SCORES",
    "Form",
    "Protocol",
    "Select",
    "Split",
    "Subset",
    "active",
    "cut_years",
    "load_protocol",
    "override",
    "parse_protocol",
    "protocol_names",
    "region",
    "scaled",
]
