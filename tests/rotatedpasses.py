"""Attention whose queries and keys are rotated by tables, drawn at random and computed by loops, as people save it."""

from dataclasses import dataclass, field

import numpy as np
from implementations import softmax

SCALINGS = ("default", "linear", "llama3", "yarn", "uneven")
SHAPES = ("(t, d)", "(1, t, d)", "(1, t, 1, d)", "(1, 1, t, d)", "longer", "complex", "pairs", "angles", "speeds")
POSITIONS = ("usual", "packed", "left", "later")
STEPS = ("", "cache", "full keys", "whole text")


@dataclass
class RotatedPass:
    """What is drawn; `mistake` changes the code, not the tables. `step` is how a decode step's arrays are saved."""

    random: np.random.Generator
    scaling: str = "default"
    shape: str = "(t, d)"
    positions: str = "usual"
    pairs: str = "halves"
    table_pairs: str = ""
    n_rotated: int = 8
    d: int = 8
    n_heads: int = 4
    n_groups: int = 2
    n: int = 7
    n_new: int = 7
    step: str = ""
    mistake: str = ""
    corner: str = "lower"
    precision: str = "float64"
    has_mask: bool = True
    kept: tuple[str, ...] = ("attention", "output")
    stages: dict = field(default_factory=dict)

    @classmethod
    def drawn(cls, random: np.random.Generator, steps: tuple[str, ...] = ("", *STEPS)) -> "RotatedPass":
        pick = lambda options: options[int(random.integers(len(options)))]  # noqa: E731
        d, n_heads, step = pick((4, 6, 8, 16)), pick((1, 2, 4)), pick(steps)
        n = int(random.integers(3, 10))
        made = cls(random, pick(SCALINGS), pick(SHAPES), pick(POSITIONS), pick(("halves", "neighbours")))
        made.d, made.n_rotated, made.n_heads, made.n, made.step = d, pick((d, d, d, d // 4 * 2)), n_heads, n, step
        made.n_groups = pick([g for g in (1, 2, 4) if n_heads % g == 0])
        made.n_new = n
        made.table_pairs, made.precision = pick(("halves", "neighbours")), pick(("float64", "float32"))
        made.kept = tuple(each for each in ("q", "scaled", "attention", "output") if random.random() < 0.6) or (
            "output",
        )
        made.has_mask = random.random() < 0.5
        if made.shape in ("speeds", "angles") and made.scaling == "yarn":  # whose factor is only in cosines and sines
            made.scaling = "linear"
        if step:  # a text of its own; what is compared tells how many keys there are
            made.positions = "usual" if made.positions == "packed" else made.positions
            made.n = max(n, 5)
            made.n_new = pick((1, 1, 2))
            made.kept = (*made.kept, *({"attention"} - {*made.kept}))
        return made

    @property
    def speeds(self) -> np.ndarray:
        pairs = np.arange(0, self.n_rotated, 2) / self.n_rotated
        speeds = 10_000.0**-pairs
        if self.scaling == "uneven":
            return np.sort(self.random.uniform(0.001, 1.5, len(pairs)))[::-1]
        if self.scaling == "linear":
            return speeds / 3.7
        if self.scaling in ("llama3", "yarn"):
            mixed = np.clip(np.linspace(-0.3, 1.2, len(pairs)), 0, 1)
            return speeds * (1 - mixed) + speeds / 8 * mixed
        return speeds

    @property
    def where(self) -> np.ndarray:
        """The positions of all tokens."""
        each = np.arange(self.n)
        if self.positions == "packed":
            return np.where(each < self.n // 2, each, each - self.n // 2)
        if self.positions == "left":
            return np.where(each < 2, 1, each - 2)
        return each + 3 if self.positions == "later" else each

    def rotated(self, rows: np.ndarray, table: np.ndarray, backwards: bool = False) -> np.ndarray:
        """Each pair of each row of (heads, rows, d) multiplied by its complex number."""
        made = rows.copy()
        half = self.n_rotated // 2
        for head in range(len(rows)):
            for row in range(rows.shape[1]):
                for pair in range(half):
                    a, b = (pair, pair + half) if self.pairs == "halves" else (2 * pair, 2 * pair + 1)
                    number = complex(rows[head, row, a], rows[head, row, b])
                    turned = number * (table[row, pair].conjugate() if backwards else table[row, pair])
                    made[head, row, a], made[head, row, b] = turned.real, turned.imag
        return made

    def arrays(self) -> dict[str, np.ndarray]:
        random, h, g, d, n, new = self.random, self.n_heads, self.n_groups, self.d, self.n, self.n_new
        width, kept = h * d, n - new
        x = random.standard_normal((n, width))
        w = {"q": (width, width), "k": (g * d, width), "v": (g * d, width), "o": (width, width)}
        w = {each: random.standard_normal(shape) / width**0.5 for each, shape in w.items()}
        speeds, where = self.speeds, self.where
        factor = 1.3 if self.scaling == "yarn" else 1.0
        if self.precision == "float32":
            x, speeds = x.astype(np.float32).astype(float), speeds.astype(np.float32).astype(float)
            w = {each: array.astype(np.float32).astype(float) for each, array in w.items()}
        raw = factor * np.exp(1j * np.outer(np.arange(4 * n), speeds))
        if self.precision == "float32":
            raw = raw.astype(np.complex64).astype(complex)
        table = raw[where]
        q, k, v = ((x @ w[each].T).reshape(n, -1, d).swapaxes(0, 1) for each in "qkv")
        mine, mistake = table.copy(), self.mistake
        if mistake == "not scaled":
            mine = np.exp(1j * np.outer(where, 10_000.0 ** -(np.arange(0, self.n_rotated, 2) / self.n_rotated)))
        if mistake == "without factor":
            mine /= np.abs(mine)
        if mistake == "restarts":
            mine[kept:] = raw[:new]
        q_table = mine if mistake != "queries restart" else np.concatenate([table[:kept], raw[:new]])
        backwards = mistake == "backwards"
        q_turned = q if mistake in ("not rotated", "keys alone") else self.rotated(q, q_table, backwards)
        k_turned = k if mistake in ("not rotated", "queries alone") else self.rotated(k, mine, backwards)
        if mistake == "heads":
            q_turned, k_turned = (self.rotated(each.swapaxes(0, 1), raw[: len(each)]).swapaxes(0, 1) for each in (q, k))
        if mistake == "twice":
            q_turned, k_turned = self.rotated(q_turned, table), self.rotated(k_turned, table)
        seen = np.tri(n, dtype=bool)
        if self.positions == "packed":
            seen &= (np.arange(n) < n // 2)[:, None] == (np.arange(n) < n // 2)
        if self.positions == "left":
            seen[:, :2] = False
            seen[0, 0] = seen[1, 1] = True
        if self.corner == "upper":
            seen[kept:] = np.tri(new, n, dtype=bool)
        heads, weights, scores = np.zeros((h, new, d)), np.zeros((h, new, n)), np.zeros((h, new, n))
        for head in range(h):
            for row in range(new):
                group = head // (h // g)
                scores[head, row] = [q_turned[head, kept + row] @ key / d**0.5 for key in k_turned[group]]
                weights[head, row] = softmax(np.where(seen[kept + row], scores[head, row], -np.inf)[None])[0]
                heads[head, row] = weights[head, row] @ v[group]
        output = heads.swapaxes(0, 1).reshape(new, width) @ w["o"].T
        has_mask = self.has_mask or self.positions in ("packed", "left")
        self.stages = {"q": q[:, kept:], "k": k, "q_rotated": q_turned[:, kept:], "k_rotated": k_turned, "v": v}
        self.stages |= {"scaled": scores, "attention": weights, "output": output}
        arrays = {"x": x if not self.step or self.step == "whole text" else x[kept:]}
        arrays |= {f"{each}_proj.weight": array for each, array in w.items()}
        arrays |= {each: self.stages[each] for each in self.kept}
        if has_mask:
            arrays["mask"] = seen[kept:]
        if self.step == "cache":
            arrays |= {"past_key": k_turned[:, :kept], "past_value": v[:, :kept]}
        elif self.step == "full keys":
            arrays |= {"k_rotated": k_turned, "v": v}
        arrays = {
            name: array.astype(np.float32) if self.precision == "float32" and array.dtype == float else array
            for name, array in arrays.items()
        }
        return arrays | self.tables(raw, table, speeds)

    def tables(self, raw: np.ndarray, table: np.ndarray, speeds: np.ndarray) -> dict[str, np.ndarray]:
        """The tables as people save them: of all tokens, or of the new ones alone."""
        kept, where, is_new = self.n - self.n_new, self.where, self.step in ("cache", "full keys")
        own = slice(kept, None) if is_new else slice(None)
        real = np.float32 if self.precision == "float32" else np.float64
        ids = {"position_ids": where[own]} if self.positions != "usual" or is_new else {}
        if self.shape == "speeds":
            return {"inv_freq": speeds.astype(real)} | ids
        if self.shape == "complex":
            return {"freqs_cis": table[own].astype(np.complex64 if real is np.float32 else complex)}
        if self.shape == "pairs":
            return {"freqs_cis": np.stack([table[own].real, table[own].imag], axis=-1).astype(real)}
        numbers = raw if self.shape == "longer" else table[own]
        if self.pairs == "neighbours" and (self.table_pairs == "neighbours" or self.n_rotated < self.d):
            numbers = np.repeat(numbers, 2, axis=-1)
        elif self.pairs == "halves" and (self.table_pairs == "halves" or self.n_rotated < self.d):
            numbers = np.concatenate([numbers, numbers], axis=-1)
        if self.shape == "angles":
            angles = np.outer(where[own], speeds)
            angles = np.repeat(angles, 2, -1) if self.pairs == "neighbours" else np.concatenate([angles, angles], -1)
            return {"rotary_pos_emb": angles[:, None, None].astype(real)}
        shape = {"(1, t, d)": (1, -1), "(1, t, 1, d)": (1, -1, 1), "(1, 1, t, d)": (1, 1, -1)}.get(self.shape, (-1,))
        cos, sin = (each.reshape(*shape, numbers.shape[-1]).astype(real) for each in (numbers.real, numbers.imag))
        return {"cos": cos, "sin": sin} | (ids if self.shape == "longer" or self.random.random() < 0.5 else {})
