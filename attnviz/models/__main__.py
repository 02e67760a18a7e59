"""Train all models again and write what the app shows: `python -m attnviz.models`. It takes about six minutes."""

from attnviz.models import MODELS
from attnviz.models.recipes import RECIPES
from attnviz.models.trained import record, record_parts

for recipe in RECIPES.values():
    record(recipe)
record_parts(MODELS["microgpt"])
