"""The report: one self-contained page, and the same numbers as JSON."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from .score_charts import curve_charts, score_charts, score_table
from .tables import (
    COLOURS,
    balance_charts,
    compared_chart,
    crossing_charts,
    drift_chart,
    plane_charts,
    shown,
    target_marks,
)

if TYPE_CHECKING:
    from .model import Audit

__all__ = ["report"]

_SENTENCE = 600


def _resource(name: str) -> str:
    return resources.files("protoctl.audit").joinpath(name).read_text("utf-8")


def report(audit: Audit, scores: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the files of a report.

    Parameters
    ----------
    audit : Audit
        What was found.
    scores : mapping, optional
        What `protoctl score --json` prints: shown by subgroup, with intervals and ROC curves.

    Returns
    -------
    files : dict of str to str
        ``report.html``, which loads nothing and runs nothing but the sorting of its tables, and ``report.json``.

    Raises
    ------
    InputError
        If `scores` are of another form.
    """
    held: dict[str, Any] = {"format": "protoctl-report/1", "audit": audit.to_json()}
    if scores is not None:
        held["scores"] = dict(scores)
    return {
        "report.html": _page(audit, scores),
        "report.json": json.dumps(held, indent=1, ensure_ascii=False) + "\n",
    }


def _page(audit: Audit, scores: Mapping[str, Any] | None) -> str:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = shown
    environment.filters["shown_whole"] = partial(shown, longest=_SENTENCE)
    environment.filters["cell"] = _cell
    script = str(environment.get_template("report_script.html").render())
    return environment.get_template("report.html").render(
        audit=audit,
        balance=audit.balance,
        colours=COLOURS,
        style=_resource("report.css"),
        script=script,
        # The page may run this one script and no other, whatever names the data bring.
        allowed=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        marks=target_marks(audit.balance),
        charts=balance_charts(audit.balance),
        crossings=crossing_charts(audit),
        drift=drift_chart(audit.drift),
        compared=compared_chart(audit.compared),
        planes=plane_charts(audit.planes),
        score_charts=score_charts(scores) if scores is not None else [],
        scores=score_table(scores) if scores is not None else None,
        curves=curve_charts(scores) if scores is not None else [],
        score_notes=list(scores.get("notes") or []) if scores is not None else [],
    )


def _cell(value: str | float | None, digits: int) -> str:
    """Return a table's cell as text."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return shown(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"
