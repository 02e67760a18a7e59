"""Versions of a worksheet: passes that differ in nothing but their seeds."""

import json
import re
from urllib.parse import urlencode

import pytest

from attnviz.contract.base import RequestError, received
from attnviz.lessons.talk import TalkError
from attnviz.lessons.talk_request import TalkRequest, reply
from attnviz.scene.address import parse

CAUSAL = {"sentence": "the cat sat on the mat", "heads": "2", "mask": "causal", "seed": "7"}
WHOLE = {"sentence": "the cat sat", "initialiser": "whole", "seed": "7"}


def made(settings, n):
    request = json.dumps({"kind": "versions", "at": urlencode(settings), "n": n})
    return json.loads(reply(received(request.encode(), TalkRequest)))["documents"]


@pytest.mark.parametrize("settings", [CAUSAL, WHOLE])
def test_versions_differ_in_their_seeds_alone(settings):
    documents = made(settings, 30)
    captions = [each["caption"] for each in documents]
    seeds = [re.search(r"Seed: (\d+)", caption)[1] for caption in captions]
    assert seeds[0] == settings["seed"], "the first is the one that is seen"
    assert len(set(seeds)) == 30
    assert len({re.sub(r"Seed: \d+", "", caption) for caption in captions}) == 1
    assert len({json.dumps(each["parameters"]["parts"]) for each in documents}) == 30


def test_numbers_set_by_hand_are_in_no_version():
    changed = CAUSAL | {"changes": "scores[0,1,0]=5"}
    assert parse(changed).scene.changes
    assert [each["changes"] for each in made(changed, 2)] == [[], []]


@pytest.mark.parametrize(
    ("settings", "n", "error"),
    [
        ({"model": "who-is-it"}, 3, TalkError),  # it has learnt its numbers
        ({"source": "own-parameters"}, 3, TalkError),
        ({"sentence": " ".join(map(str, range(40))), "d_model": "64", "heads": "8"}, 30, TalkError),  # 20 MB
        ({"sentence": ""}, 2, TalkError),
        (CAUSAL, 0, RequestError),
        (CAUSAL, 31, RequestError),
    ],
)
def test_versions_that_cannot_be_made_are_refused(settings, n, error):
    with pytest.raises(error):
        made(settings, n)
