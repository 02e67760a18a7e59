"""The settings alone: a page that draws them from data, without a server, and notes what somebody does with them."""

import tomllib

from alone import MODULES, SHEET
from documents import fitted_at
from needs import in_page
from page import ROOT, settings_of

THEMES = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
PAGE = in_page("settings.html")
OWN = {"sentence": "the cat sat"}
MODEL = {"model": "who-is-it"}


def of(**address):
    """The boxes of the scene of an address."""
    return {"settings": settings_of(fitted_at(address).scene)}


def coloured(theme):
    """A theme as Streamlit gives it to a component."""
    names = {"background": "backgroundColor", "secondary-background": "secondaryBackgroundColor", "text": "textColor"}
    names |= {"primary": "primaryColor", "link": "linkColor"}
    names |= {f"{each}-text": f"{each}TextColor" for each in ("blue", "orange", "green", "violet")}
    given = "".join(f"--st-{name}-color: {THEMES[theme][key]};" for name, key in names.items())
    return f"html {{ {given} color-scheme: {theme}; }}"


def colours():
    """The themes as Streamlit gives them, each where it is asked for."""
    return f"{coloured('light')} @media (prefers-color-scheme: dark) {{ {coloured('dark')} }}"


def page_of_settings():
    """The page, as HTML; it has an element `#given` for what is drawn."""
    return PAGE % (SHEET, colours(), MODULES)


def sentence(page):
    return page.get_by_role("textbox", name="Sentence", exact=True)


def more(page):
    """The panel that More opens, open."""
    page.get_by_role("button", name="Settings", exact=True).click()
    return page.get_by_role("group", name="More settings")
