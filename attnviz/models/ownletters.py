"""Own letters: the next letter of a text, as someone's own microgpt has learnt it."""

from attnviz.models.task import Task
from attnviz.models.tasks.names import Letters


class OwnLetters(Letters, Task):
    """The next letter of a text, as someone's own microgpt has learnt it.

    Parameters
    ----------
    letters : tuple of str
        In the order of their rows in `wte`.
    checked : str
        Whether its logits are known to be those of the model that wrote the file, in a sentence.
    longest : int
        How many letters of a text the model has positions for.
    """

    title = "Your microgpt"
    summary = "Your own language model, number by number."
    question = "After “{sentence}”, what comes next?"

    def __init__(self, letters: tuple[str, ...], checked: str, longest: int):
        self.letters = letters
        self.about = f"You gave this model, and whatever it has learnt. {checked}"
        self.checked = checked
        self.words_by_kind = {"letters": letters}
        text = "".join(letters[: min(2, longest)])
        self.examples = (("first letters" if text else "no letters yet", text),)
