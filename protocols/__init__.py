"""The rules, as YAML files, loaded and checked; annotation forms."""

from .forms import active, cut_years, merged_races, merged_skin, region, scaled
from .load import SCORES, load_protocol, override, parse_protocol, protocol_names
from .model import Form, Protocol, Select, Split, Subset
from .variants import CORRUPTIONS, DEGRADATIONS, SEVERITIES, Clips, Degrade, Variants, parse_variants

__all__ = [
    "CORRUPTIONS",
    "DEGRADATIONS",
    "SCORES",
    "SEVERITIES",
    "Clips",
    "Degrade",
    "Form",
    "Protocol",
    "Select",
    "Split",
    "Subset",
    "Variants",
    "active",
    "cut_years",
    "load_protocol",
    "merged_races",
    "merged_skin",
    "override",
    "parse_protocol",
    "parse_variants",
    "protocol_names",
    "region",
    "scaled",
]
