"""The translator in NumPy alone: reads a recording and translates greedily, with nothing of attnviz.

`share_right` takes English sentences with their right translations as lists of words, and the words in the order of the
embeddings.
"""

import gzip
import json

import numpy as np

EPSILON = 1e-5


def parameters(file, seed=0, checkpoint=-1, decimals=2):
    """The arrays of a recorded checkpoint, by name."""
    with gzip.open(file, "rt", encoding="utf-8") as recording:
        whole = json.load(recording)[seed]["checkpoints"][checkpoint]["parameters"]
    return {name: np.array(numbers) / 10**decimals for name, numbers in whole.items()}


def normed(x):
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + EPSILON)


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attended(p, layer, x, others, sees=None):
    """What a layer adds to x, head by head, and the attention weights of each head."""
    rows, weights = [], []
    for w_q, w_k, w_v in zip(*(p[f"w_{part}_{layer}"] for part in "qkv"), strict=True):
        scores = (x @ w_q) @ (others @ w_k).T / np.sqrt(w_q.shape[1])
        if sees is not None:
            scores = np.where(sees, scores, -np.inf)
        weights.append(softmax(scores))
        rows.append(weights[-1] @ (others @ w_v))
    return np.concatenate(rows, axis=1) @ p[f"w_o_{layer}"], np.array(weights)


def forward(p, english, french, hidden=(), unread=()):
    """The logits after each French word, and the attention weights of the three layers.

    `hidden` are pairs of English places, `unread` of a French and an English one: the first doesn't see the second.
    """
    english, french = list(english), list(french)
    sees, reads = (np.ones((len(queries), len(english)), dtype=bool) for queries in (english, french))
    for seen, pairs in ((sees, hidden), (reads, unread)):
        for pair in pairs:
            seen[pair] = False
    source = p["context_embeddings"][english] + p["context_positions"][: len(english)]
    added, first = attended(p, 1, normed(source), normed(source), sees)
    memory = normed(source + added)
    x = p["embeddings"][french] + p["positions"][: len(french)]
    added, second = attended(p, 2, normed(x), normed(x), np.tri(len(french), dtype=bool))
    x = x + added
    added, third = attended(p, 3, normed(x), memory, reads)
    return (x + added) @ p["w_u"], (first, second, third)


def translated(p, english, n_places=14):
    """The places of the French words that it writes among the answers, the last of which ends a text."""
    end, written = p["w_u"].shape[1] - 1, []
    while len(written) < n_places:
        logits, _ = forward(p, english, [0, *(place + 1 for place in written)])
        written.append(int(logits[-1].argmax()))
        if written[-1] == end:
            break
    return written


def share_right(p, english_words, french_words, sentences):
    """The share of sentences of which it writes a right translation: each word is likeliest after those before."""
    row, place = ({word: at for at, word in enumerate(words)} for words in (english_words, french_words))
    right = 0
    for english, translations in sentences:
        for words in ([place[word] for word in each] for each in translations):
            logits, _ = forward(p, [row[word] for word in english], [0, *(each + 1 for each in words[:-1])])
            if logits.argmax(axis=1).tolist() == words:
                right += 1
                break
    return right / len(sentences)
