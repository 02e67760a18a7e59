"""What viewers post to the route of actions, through all guards, and what they are answered."""

import json

from asgi import APP, ask
from documents import read

from attnviz.app import browser_tabs
from attnviz.scene.actions.session import Session
from attnviz.scene.scene import Scene


def new_tab(sentence="the cat sat"):
    """An open tab that shows a sentence; it is closed when nobody holds it any longer."""
    tab = browser_tabs.Tab()
    browser_tabs.OPEN[tab.token] = tab
    tab.session = Session(Scene(sentence=sentence))
    return tab


def said(tab, /, *done, **parts):
    """What a viewer says was done in a tab."""
    usual = {"tab": tab.token, "address": tab.session.address, "look": "", "view": "pass", "templates": []}
    return json.dumps(usual | {"actions": [list(each) for each in done]} | parts).encode()


def post(body, **options):
    return ask(APP, browser_tabs.ACTIONS_PATH, "POST", body=body, **options)


def answer(tab, /, *done, **parts):
    answered = post(said(tab, *done, **parts))
    assert answered.status == 200, answered.text
    return read(answered.text)
