"""Lexicon: the English words that the translator knows, and every French form they can take.

Each French form is written out; none is derived. The sources of the forms and of their gender are the entries of the
Dictionnaire de l'Académie française, 9th edition (https://www.dictionnaire-academie.fr), with its conjugations; nouns
of both genders ("un juge, une juge", "un pilote, une pilote") are in the list of the Office québécois de la langue
française (https://vitrinelinguistique.oqlf.gouv.qc.ca/23936).
"""

from typing import Literal, NamedTuple

Gender = Literal["m", "f"]
Kind = Literal["animals", "people", "places", "things"]
Forms = tuple[str, str, str, str]
"""Masculine and feminine singular, masculine and feminine plural."""


class Noun(NamedTuple):
    """A noun in both languages."""

    english: tuple[str, str]  # singular, plural
    french: tuple[str, str]
    genders: str  # "m", "f", or "mf" for a noun that has both
    kind: Kind


class Adjective(NamedTuple):
    """An adjective in both languages."""

    english: str
    french: Forms
    is_before: bool  # whether it stands before a French noun
    fits: tuple[Kind, ...]  # the nouns that it can be said of
    has_degree: bool = True  # whether something can be too much so


class Verb(NamedTuple):
    """A verb in both languages, in the present tense."""

    english: tuple[str, str]  # the form without s, and with it; a second word, as in "look for", stays
    french: tuple[str, str]  # third person, singular and plural
    takes: tuple[Kind, ...] = ()  # the nouns that its object can be; none without object

    @property
    def particle(self) -> tuple[str, ...]:
        """The second English word, if it has one."""
        return tuple(self.english[0].split()[1:])


def _noun(english: str, french: str, genders: str, kind: Kind) -> Noun:
    (one, many), (un, des) = english.split(), french.split()
    return Noun((one, many), (un, des), genders, kind)


def _forms(text: str) -> Forms:
    masculine, feminine, masculines, feminines = text.split()
    return masculine, feminine, masculines, feminines


NOUNS = (
    _noun("cat cats", "chat chats", "m", "animals"),
    _noun("cow cows", "vache vaches", "f", "animals"),
    _noun("dog dogs", "chien chiens", "m", "animals"),
    _noun("rabbit rabbits", "lapin lapins", "m", "animals"),
    _noun("goat goats", "chèvre chèvres", "f", "animals"),
    _noun("fox foxes", "renard renards", "m", "animals"),
    _noun("turtle turtles", "tortue tortues", "f", "animals"),
    _noun("hen hens", "poule poules", "f", "animals"),
    _noun("judge judges", "juge juges", "mf", "people"),
    _noun("pilot pilots", "pilote pilotes", "mf", "people"),
    _noun("bridge bridges", "pont ponts", "m", "places"),
    _noun("street streets", "rue rues", "f", "places"),
    _noun("path paths", "chemin chemins", "m", "places"),
    _noun("road roads", "route routes", "f", "places"),
    _noun("garden gardens", "jardin jardins", "m", "places"),
    _noun("river rivers", "rivière rivières", "f", "places"),
    _noun("house houses", "maison maisons", "f", "things"),
    _noun("wall walls", "mur murs", "m", "things"),
)
"""All nouns; every French form begins with a consonant, so that no article is elided."""

LIVING: tuple[Kind, ...] = ("animals", "people")
BUILT: tuple[Kind, ...] = ("places", "things")
COLOURED: tuple[Kind, ...] = ("animals", "places", "things")
ALL: tuple[Kind, ...] = ("animals", "people", "places", "things")

ADJECTIVES = (
    Adjective("small", _forms("petit petite petits petites"), True, ALL),
    Adjective("big", _forms("grand grande grands grandes"), True, ALL),
    Adjective("black", _forms("noir noire noirs noires"), False, COLOURED, False),
    Adjective("white", _forms("blanc blanche blancs blanches"), False, COLOURED, False),
    Adjective("red", _forms("rouge rouge rouges rouges"), False, COLOURED, False),
    Adjective("green", _forms("vert verte verts vertes"), False, COLOURED, False),
    Adjective("tired", _forms("fatigué fatiguée fatigués fatiguées"), False, LIVING),
    Adjective("slow", _forms("lent lente lents lentes"), False, LIVING),
    Adjective("sad", _forms("triste triste tristes tristes"), False, LIVING),
    Adjective("wide", _forms("large large larges larges"), False, BUILT),
    Adjective("long", _forms("long longue longs longues"), True, BUILT),
    Adjective("narrow", _forms("étroit étroite étroits étroites"), False, BUILT),
)

VERBS = (
    Verb(("sleep", "sleeps"), ("dort", "dorment")),
    Verb(("sing", "sings"), ("chante", "chantent")),
    Verb(("jump", "jumps"), ("saute", "sautent")),
    Verb(("run", "runs"), ("court", "courent")),
    Verb(("see", "sees"), ("voit", "voient"), ALL),
    Verb(("look for", "looks for"), ("cherche", "cherchent"), ALL),
    Verb(("follow", "follows"), ("suit", "suivent"), ALL),
    Verb(("cross", "crosses"), ("traverse", "traversent"), ("places",)),
    Verb(("block", "blocks"), ("bloque", "bloquent"), LIVING),
)
"""All verbs; every French form begins with a consonant, so that neither "ne" nor an object pronoun is elided."""

DETERMINERS: dict[str, Forms] = {
    "the": ("le", "la", "les", "les"),
    "a": ("un", "une", "", ""),
    "this": ("ce", "cette", "", ""),
    "these": ("", "", "ces", "ces"),
}
"""Determiners; an empty form is one that can't be."""

PRONOUNS = {"it": ("il", "elle"), "they": ("ils", "elles")}
"""Subject pronouns, for a masculine and a feminine noun."""

OBJECT_PRONOUNS = {"him": "le", "her": "la", "them": "les"}

BE = {"is": "est", "are": "sont"}

OTHER_ENGLISH = ("do", "does", "not", "and", "because", "too")
OTHER_FRENCH = ("ne", "n’", "pas", "et", "car", "trop")
