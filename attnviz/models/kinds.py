"""Kinds: the mean scores that words of one kind have with words of another."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from attnviz.models.model import Model


def tables(models: Iterable[Model]) -> list[dict | None]:
    """The table of each of some models with one `limit`, the largest size in all of them, where their colours end."""
    all_tables = [table(model) for model in models]
    limit = max((abs(value) for each in all_tables if each for row in each["values"] for value in row), default=0.0)
    return [each and each | {"limit": limit} for each in all_tables]


def table(model: Model) -> dict | None:
    """The mean scaled score of each kind of query with each kind of key, as plain data; None if the task names none.

    For models without positions, whose words have the same scores in every text.
    """
    if not model.task.kinds:
        return None
    words_of = model.task.words_by_kind
    rows, columns = ([words_of[kind] for kind in kinds] for kinds in model.task.kinds)
    words = [word for kind in (*rows, *columns) for word in kind]
    scaled = model.trace(" ".join(words))["scaled"].value.mean(axis=0)
    means = [
        scaled[np.ix_([words.index(each) for each in row], [words.index(each) for each in column])].mean()
        for row, column in product(rows, columns)
    ]
    return {
        "title": "mean scaled score",
        "rows": [f"{row[0]} …" for row in rows],
        "columns": [f"{column[0]} …" for column in columns],
        "values": np.reshape(means, (len(rows), len(columns))).tolist(),
    }
