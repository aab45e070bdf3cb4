"""Terms of a dataset that a partition must not break unseen."""

from __future__ import annotations

from ..catalog import Items
from ..errors import InputError
from ..protocols import Protocol

__all__ = ["refuse_training"]


def refuse_training(
    items: Items, protocol: Protocol, *, folds: int | None = None, accept_terms: str | None = None
) -> str | None:
    """Refuse a split to train on of a dataset whose terms allow evaluation only.

    Parameters
    ----------
    items : Items
        Of the dataset; a plain table has no terms that are known.
    protocol : Protocol
        A split named ``train`` is one to train on.
    folds : int, optional
        Folds instead of splits: each is trained on while another is held out.
    accept_terms : str, optional
        Why such a split is made all the same.

    Returns
    -------
    accepted : str or None
        The reason, where one was needed.

    Raises
    ------
    InputError
        If a reason is needed and there is none.
    """
    card = items.card
    if card is None or not card.evaluation_only or protocol.split is None:
        return None
    training = [name for name in protocol.split.names if name.startswith("train")]
    if not training and folds is None:
        return None
    if accept_terms and accept_terms.strip():
        return accept_terms.strip()
    what = f"{folds} folds" if folds else f"a split {training[0]!r}"
    raise InputError(
        f"the terms of {card.title} allow evaluation only ({card.license}), and protocol {protocol.name} makes {what} "
        "to train on",
        hint='if the rights holder allows it, say why: --accept-terms "..."; the manifest records it. A protocol '
        "that only draws a subset needs no reason",
    )
