"""The translator's French: every form against rules of its own, and every sentence against agreement."""

import re

import numpy as np
import pytest

from attnviz.models.tasks.grammar import drawn, read, translations
from attnviz.models.tasks.lexicon import ADJECTIVES, DETERMINERS, NOUNS, VERBS
from attnviz.models.tasks.translation import HELD_OUT_PAIRS, Translation, is_combination, pairs, sample

MASCULINE = {"chat", "chien", "lapin", "renard", "pont", "chemin", "jardin", "mur"}
FEMININE = {"vache", "chèvre", "tortue", "poule", "rue", "route", "rivière", "maison"}
BOTH = {"juge", "pilote"}
FEMININES = {"blanc": "blanche", "long": "longue", "rouge": "rouge", "triste": "triste", "large": "large"}
"""Those that don't just add an e."""
PLURAL_VERBS = {"dort": "dorment", "court": "courent", "voit": "voient", "suit": "suivent"}
"""Those not of the first conjugation, whose plural adds -nt."""
VOWEL = re.compile("[aeiouyhàâéèêîôû]")


def french(text):
    return [" ".join(word for word, _ in each) for each in translations(text.split())]


def test_forms_of_nouns():
    assert {noun.french[0] for noun in NOUNS} == MASCULINE | FEMININE | BOTH
    for noun in NOUNS:
        one, many = noun.french
        assert many == one + "s"
        assert noun.english[1] == noun.english[0] + ("es" if noun.english[0].endswith("x") else "s")
        assert noun.genders == "m" * (one in MASCULINE | BOTH) + "f" * (one in FEMININE | BOTH)


def test_forms_of_adjectives():
    for adjective in ADJECTIVES:
        masculine, feminine, masculines, feminines = adjective.french
        assert feminine == FEMININES.get(masculine, masculine + "e")
        assert (masculines, feminines) == (masculine + "s", feminine + "s")
        assert adjective.is_before == (masculine in ("petit", "grand", "long"))


def test_forms_of_verbs():
    for verb in VERBS:
        one, many = verb.french
        assert many == (one + "nt" if one.endswith("e") else PLURAL_VERBS[one])
        first, *rest = verb.english[0].split()
        third = first + ("es" if first.endswith("ss") else "s")
        assert verb.english[1] == " ".join([third, *rest])


def test_nothing_is_elided_but_ne_before_est():
    after_articles = [word for noun in NOUNS for word in noun.french]
    after_articles += [word for each in ADJECTIVES if each.is_before for word in each.french]
    assert not [
        word for word in (*after_articles, *(form for verb in VERBS for form in verb.french)) if VOWEL.match(word)
    ]
    assert french("the cat is not tired") == ["le chat n’ est pas fatigué"]
    assert french("the cats are not tired") == ["les chats ne sont pas fatigués"]


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        ("the small black cat does not sleep", "le petit chat noir ne dort pas"),
        ("these white cows sing", "ces vaches blanches chantent"),
        ("a goat looks for this house", "une chèvre cherche cette maison"),
        ("the dog does not see a house", "le chien ne voit pas de maison"),
        ("the dog does not see this house", "le chien ne voit pas cette maison"),
        ("a dog does not sleep", "un chien ne dort pas"),
        ("the dogs do not look for them", "les chiens ne les cherchent pas"),
        ("the hen follows him", "la poule le suit"),
        (
            "the cat does not cross the street because it is too tired",
            "le chat ne traverse pas la rue car il est trop fatigué",
        ),
        (
            "the cat does not cross the street because it is too wide",
            "le chat ne traverse pas la rue car elle est trop large",
        ),
        (
            "the bridges block the cow because they are too narrow",
            "les ponts bloquent la vache car ils sont trop étroits",
        ),
        ("the bridges block the cow because it is too slow", "les ponts bloquent la vache car elle est trop lente"),
        (
            "the cow and the cat cross the street because they are too tired",
            "la vache et le chat traversent la rue car ils sont trop fatigués",
        ),
        ("the cat and the cow are black", "le chat et la vache sont noirs"),
        ("the cow and the cat are black", "la vache et le chat sont noirs"),
        ("the cow and the hen are black", "la vache et la poule sont noires"),
        ("the cat and the cow do not sleep", "le chat et la vache ne dorment pas"),
        ("the street is not too wide", "la rue n’ est pas trop large"),
        ("the long river is green", "la longue rivière est verte"),
        ("the tired fox runs", "le renard fatigué court"),
    ],
)
def test_translations(english, expected):
    assert french(english) == [expected]


def test_nouns_of_both_genders_have_several_translations():
    assert french("the judge is tired") == ["le juge est fatigué", "la juge est fatiguée"]
    assert french("the judges are tired") == ["les juges sont fatigués"]
    assert french("the small judge sees the pilots") == [
        "le petit juge voit les pilotes",
        "la petite juge voit les pilotes",
    ]
    assert french("the cow and the judge are slow") == [
        "la vache et le juge sont lents",
        "la vache et la juge sont lentes",
    ]
    assert len(french("the judge and this pilot are slow")) == 4


@pytest.mark.parametrize(
    "english",
    [
        "the cat",
        "the cats sleeps",
        "the cat do not sleep",
        "a cats sleep",
        "these cat sleeps",
        "the cat sleep",
        "the cat and the cow is black",
        "the cat sees the dog because it is too tired",  # which of them?
        "the cat sees the dog because it is too wide",
        "the judge crosses the street because it is too tired",  # a person is no "it"
        "the bridges block the cow because they is too narrow",
        "the bridges block the cow because it are too slow",
        "the black black cat sleeps",
        "the cat sleeps the dog",
        "the cat sees",
        "the cat sleeps because it is too tired not",
    ],
)
def test_other_sentences_have_no_translation(english):
    assert french(english) == []


GENDER = dict.fromkeys(("le", "un", "ce"), "m") | dict.fromkeys(("la", "une", "cette"), "f")
SINGULAR = ("le", "la", "un", "une", "ce", "cette", "de")
ARTICLES = (*SINGULAR, "les", "ces")
STEMS = {form: at for each in ADJECTIVES for at, form in enumerate(each.french)}


def may_be(adjective, gender, many):
    """Whether a form of an adjective is of that gender and number."""
    masculine = next(each.french[0] for each in ADJECTIVES if adjective in each.french)
    form = masculine if gender == "m" else FEMININES.get(masculine, masculine + "e")
    return adjective == form + "s" * many


def groups(words):
    """Each noun of a French sentence with its article and adjectives: (gender, plural) that all agree in."""
    found, verbs = [], {form for verb in VERBS for form in verb.french}
    for at, word in enumerate(words):
        if word.removesuffix("s") not in MASCULINE | FEMININE | BOTH:
            continue
        first = max(place for place in range(at) if words[place] in ARTICLES and words[place + 1] not in verbs)
        after = [each for each in words[at + 1 : at + 2] if each in STEMS]
        many = word.endswith("s")
        assert (words[first] in SINGULAR) == (not many)
        stem = word.removesuffix("s")
        genders = "m" if stem in MASCULINE else "f" if stem in FEMININE else "mf"
        fitting = [
            gender
            for gender in genders
            if GENDER.get(words[first], gender) == gender
            and all(may_be(each, gender, many) for each in (*words[first + 1 : at], *after))
        ]
        assert fitting, words
        found.append((fitting, many))
    return found


def test_every_word_agrees():
    random = np.random.RandomState(11)
    for _ in range(1500):
        english = drawn(random)
        for translation in translations(english):
            words = [word for word, _ in translation]
            clause = words[: words.index("car")] if "car" in words else words
            nouns = groups(clause)
            n_subjects = 1 + ("et" in clause)
            many = n_subjects > 1 or nouns[0][1]
            verb = next(
                word for word in clause if word in ("est", "sont") or any(word in each.french for each in VERBS)
            )
            assert many == (verb == "sont" or any(verb == each.french[1] for each in VERBS))
            assert (("ne" in clause) or ("n’" in clause)) == ("pas" in clause) == ("not" in english)
            if verb in ("est", "sont"):
                of_all = ["f"] if all(fitting == ["f"] for fitting, _ in nouns) else ["m", "f"]
                genders = nouns[0][0] if n_subjects == 1 else of_all
                assert any(may_be(words[-1], gender, many) for gender in genders), words
            if "car" in words:
                pronoun = words[words.index("car") + 1]
                gender, plural = ("f" if pronoun.startswith("elle") else "m"), pronoun.endswith("s")
                assert may_be(words[-1], gender, plural)
                assert ([gender], plural) in nouns


def test_links_are_of_words_that_translate_each_other():
    random = np.random.RandomState(12)
    known = {english: noun.french for noun in NOUNS for english in noun.english}
    known |= {adjective.english: adjective.french for adjective in ADJECTIVES}
    for _ in range(300):
        english = drawn(random)
        for translation in translations(english):
            assert {place for _, places in translation for place in places} == set(range(len(english)))
            for word, places in translation:
                assert word in known.get(english[places[0]], (word,))


LEXICONS = {"noun": NOUNS, "subject": NOUNS, "object": NOUNS, "two subjects": NOUNS, "verb": VERBS}
PAIRS = {  # a sentence: its pairs of words
    "the small red cow and the hen are tired": {
        "noun and adjective": {("vache", "petit"), ("vache", "rouge")},
        "two adjectives": {("petit", "rouge")},
        "two subjects": {("vache", "poule")},
        "noun and predicate": {("vache", "fatigué"), ("poule", "fatigué")},
    },
    "the cow and the hen cross the street because they are too slow": {
        "two subjects": {("vache", "poule")},
        "noun and predicate": {("vache", "lent"), ("poule", "lent")},
        "subject and verb": {("vache", "traverse"), ("poule", "traverse")},
        "verb and object": {("traverse", "rue")},
        "subject and object": {("vache", "rue"), ("poule", "rue")},
    },
}


@pytest.mark.parametrize("english", PAIRS)
def test_pairs_of_a_sentence(english):
    found = {}
    for kind, *both in pairs(read(english.split())):
        of = kind.split(" and ") if " and " in kind else [kind, kind]
        words = (LEXICONS.get(each, ADJECTIVES)[at].french[0] for each, at in zip(of, both, strict=True))
        found.setdefault(kind, set()).add(tuple(words))
    assert found == PAIRS[english]


def test_of_each_kind_of_pair_some_are_never_trained_on():
    trained_on, others = (
        {pair for words, _ in sample(which, 2000) for pair in pairs(read(words))}
        for which in ("training", "combinations")
    )
    for kind, (by, rest) in HELD_OUT_PAIRS.items():
        held_out = {
            (each, one, other) for each, one, other in others if each == kind and (one + by * other) % 5 == rest
        }
        assert held_out
        assert held_out.isdisjoint(trained_on)


def test_parts_of_the_sentences_are_disjoint():
    parts = {which: dict(sample(which, 400)) for which in ("training", "combinations", "sentences")}
    trained_on = {pair for words in parts["training"] for pair in pairs(read(words))}
    for words in parts["combinations"]:
        assert not set(pairs(read(words))) <= trained_on
        assert is_combination(read(words))
    assert len(set().union(*parts.values())) == 1200
    assert parts["training"] == dict(sample("training", 400))


def test_vocabulary_is_complete():
    task, random = Translation(), np.random.RandomState(13)
    english, written = set(), set()
    for _ in range(4000):
        words = drawn(random)
        assert 3 <= len(words) <= 13
        english |= set(words)
        for translation in translations(words):
            assert len(translation) <= 13
            written |= {word for word, _ in translation}
    assert english == set(task.words)
    assert written == set(task.answers[:-1])
    assert len(set(task.english)) == len(task.english)
    assert len(set(task.answers)) == len(task.answers)
    assert set(DETERMINERS) < english
