"""Kinds: every operation and every kind of terms that there is, found and not listed."""

import importlib
import pkgutil

from attnviz.core import operations, terms
from attnviz.core.operations.operation import Operation
from attnviz.core.terms import Terms

_MODULES = [
    importlib.import_module(f"attnviz.core.operations.{module.name}")
    for module in pkgutil.iter_modules(operations.__path__)
]


def _made_in(modules, protocol):
    found = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    return {each for each in found if protocol in each.__mro__[1:]}


OPERATIONS = _made_in(_MODULES, Operation)
TERMS = _made_in([*_MODULES, terms], Terms)
