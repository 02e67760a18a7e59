"""Train models again and write what the app shows: `python -m attnviz.models`, or only some: `… translator mirror`.

All take about eight minutes.
"""

import sys

from attnviz.models import MODELS
from attnviz.models.recipes import RECIPES
from attnviz.models.trained import record, record_parts

unknown = [id for id in sys.argv[1:] if id not in RECIPES]
if unknown:
    sys.exit(f"There is no recipe {', '.join(unknown)}. There are {', '.join(RECIPES)}.")
for id in sys.argv[1:] or RECIPES:
    record(RECIPES[id])
if not sys.argv[1:]:
    record_parts(MODELS["microgpt"])
