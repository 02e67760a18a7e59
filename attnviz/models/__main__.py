"""Train all models again and write what the app shows: `python -m attnviz.models`. It takes about a minute."""

from attnviz.models.recipes import RECIPES
from attnviz.models.recording import record

for recipe in RECIPES.values():
    record(recipe)
