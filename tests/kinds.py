"""Mistakes and unusual correct code from public threads: one layer in plain NumPy, and its arrays as libraries save it.

Nothing here is shared with attnviz or with the other implementations of the tests. `mistaken(kind, layout, stages)` and
`correct(kind, layout, stages)` give the arrays to compare.
"""

import zlib
from dataclasses import dataclass, field

import numpy as np

STAGES = {
    "all": ("q", "k", "v", "scores", "attention", "concat", "output"),
    "attention, output": ("attention", "output"),
    "output": ("output",),
}
SIZES = ((7, 4, 8), (9, 6, 4), (8, 2, 6), (12, 3, 8), (11, 2, 16), (10, 4, 4))  # tokens, heads, d_k
CAP, NEVER = 2.0, -np.inf


@dataclass(frozen=True)
class Kind:
    """What layer a mistake is made in, where it can be seen, and what it may be called (a pattern in cause and id)."""

    cause: str
    mask: str = "causal"
    given: tuple = (True, False)  # whether the mask is among the arrays, in turn
    layer: dict = field(default_factory=dict)
    layouts: tuple = ("torch", "llama", "flax", "lens")
    stages: tuple = tuple(STAGES)
    heads: int = 0  # so many, if not those of SIZES
    asked: tuple = ()  # stages in which a question is enough, as such arrays may be meant so
    unnamed: tuple = ()  # stages in which the first difference is enough, as other mistakes may make the same numbers
    batch: int = 1


OPEN = ("llama", "flax", "lens", "own")  # layouts that groups fit
MASKED = {"given": (True,)}
KINDS = {
    "heads cut by view": Kind("cut into heads without transposing", mask="none", unnamed=("output",)),
    "heads joined without permuting": Kind("joined without transposing"),
    "-inf in the weights after the softmax": Kind("after the softmax", unnamed=("output",), **MASKED),
    "padding mask on the rows of queries": Kind("transposed|queries|rows", mask="padding", **MASKED),
    "mask multiplied into the scores": Kind("multiplied by the mask|0 and 1|mask multiplied", **MASKED),
    "window one too narrow": Kind("window|one key|off by one|too (early|far|narrow|wide)", mask="window", **MASKED),
    "window one too wide": Kind("window|one key|off by one|too (early|far|narrow|wide)", mask="window", **MASKED),
    "window ignored": Kind("window|not applied", mask="window", **MASKED),
    "window on both sides": Kind("window|causal|both sides|later keys", mask="window", **MASKED),
    "ALiBi of 6 heads": Kind("slope|ALiBi", mask="alibi", heads=6, layouts=("bert", "lens", "own", "flax"), **MASKED),
    "ALiBi exponent off by one": Kind("slope|ALiBi|exponent", mask="alibi", **MASKED),
    "ALiBi without its sign": Kind("slope|ALiBi|sign", mask="alibi", **MASKED),
    "groups tiled": Kind("tiled", layer={"groups": 2}, heads=4, layouts=OPEN),
    "RoPE along the heads": Kind("heads|axis|not rotated", layer={"rope": "halves", "tables": True}, layouts=OPEN),
    "RoPE pairing": Kind(  # which GLM has on purpose
        "pair", layer={"rope": "halves", "tables": True}, layouts=OPEN, asked=tuple(STAGES)
    ),
    "RoPE pairing without tables": Kind(
        "pair", layer={"rope": "halves"}, layouts=("llama",), asked=("all", "attention, output", "output")
    ),
    "divided by √d_model": Kind("√d_model|√"),
    "divided by √heads": Kind("√heads|√|not divided", heads=5),  # which no d_k is
    "causal corner at the upper left with a cache": Kind(
        "corner", layer={"past": 4}, layouts=OPEN, asked=("all", "attention, output", "output")
    ),
    "dropout in eval": Kind("dropout", unnamed=("output",)),
    "fused cut in blocks": Kind("fused", layouts=("neox",), asked=("all", "attention, output", "output")),
    "fused cut by heads": Kind("fused|cut into heads", layouts=("gpt2", "torch"), asked=tuple(STAGES)),
    "positions restart in a decode step": Kind(
        "position|restart", layer={"rope": "halves", "past": 5, "tables": True}, layouts=OPEN
    ),
    "mask inverted": Kind("inverted|other way round", mask="padding", asked=tuple(STAGES), **MASKED),
    "softmax over heads": Kind("along the heads"),
    "attention along the batch": Kind("batch", mask="none"),
    "attention along a batch of 3": Kind(  # which is right where the batch is second
        "batch", mask="none", batch=3, unnamed=tuple(STAGES), asked=tuple(STAGES)
    ),
    "QK-norm over all heads": Kind("norm", layer={"norm": True}, layouts=OPEN),
    "cap after the mask": Kind("cap", layer={"cap": True}, layouts=OPEN, **MASKED),
    "no causal mask under a bias": Kind("not applied|causal", mask="causal and bias", **MASKED),
    "bias of another batch item": Kind("batch|item|sentence", mask="bias", batch=3, unnamed=("output",), **MASKED),
    "V from W_K": Kind("W_K|multiplied by K|W_V|exchanged", layouts=("torch", "llama", "flax", "lens", "bert")),
    "NaN in rows that see nothing": Kind("", mask="some rows", asked=tuple(STAGES), **MASKED),
}


def softmax(scores, axis=-1):
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return powers / powers.sum(axis=axis, keepdims=True)


def turned(rows, angles, pairs, factor=1.0):
    """(heads, tokens, d) rotated; the angles are of each token, or of each head."""
    half = rows.shape[-1] // 2
    first, second = (rows[..., :half], rows[..., half:]) if pairs == "halves" else (rows[..., ::2], rows[..., 1::2])
    cos, sin = factor * np.cos(angles), factor * np.sin(angles)
    both = (first * cos - second * sin, first * sin + second * cos)
    if pairs == "halves":
        return np.concatenate(both, axis=-1)
    return np.stack(both, axis=-1).reshape(rows.shape)


def slopes(n_heads, kind=""):
    def of(n):
        start = 2.0 ** (-8 / n)
        powers = range(n) if "exponent" in kind else range(1, n + 1)
        return [start**i for i in powers]

    if "of 6 heads" in kind or not n_heads & (n_heads - 1):
        return np.array(of(n_heads))
    closest = 1 << (n_heads.bit_length() - 1)
    return np.array(of(closest) + of(2 * closest)[::2][: n_heads - closest])


class Layer:
    """One layer's parameters, plain matrices (in, out), and the stages of a pass with a mistake, or without."""

    def __init__(self, seed, size, mistake="", mask="none", dtype=np.float64, **layer):
        self.random = np.random.default_rng(seed)
        self.t, self.h, self.d = size
        self.mistake, self.mask_kind, self.dtype, self.layer = mistake, mask, dtype, layer
        self.g, self.past = layer.get("groups", self.h), layer.get("past", 0)
        width = self.h * self.d
        lengths = {"q": width, "k": self.g * self.d, "v": self.g * self.d, "o": width}
        self.w = {each: self.drawn(width, n) * 1.3 / width**0.5 for each, n in lengths.items()}
        self.b = {each: self.drawn(n) / 3 for each, n in lengths.items()}
        if layer.get("rope"):
            self.b = {}
        self.gains = {each: 1 + self.drawn(self.d) / 3 for each in "qk"} if layer.get("norm") else {}
        self.angles = np.outer(np.arange(self.t), 10_000.0 ** (-np.arange(0, self.d, 2) / self.d))
        self.n_items = layer.get("batch", 1)
        self.x = self.drawn(self.n_items, self.t, width)
        self.bias, self.visible = self.masks()
        with np.errstate(invalid="ignore"):
            self.items = [self.computed(item) for item in range(self.n_items)]
        self.attention = np.stack([each["attention"] for each in self.items])
        if "along" in mistake and "batch" in mistake:
            self.items = self.along_the_batch()
        self.stages = {name: np.stack([each[name] for each in self.items]) for name in self.items[0]}

    def drawn(self, *shape):
        return self.random.normal(size=shape).astype(self.dtype)

    def masks(self):
        """Numbers to add for each item and head, or None; and which keys are visible, or None: what is meant."""
        t, kind = self.t, self.mask_kind
        apart = np.subtract.outer(np.arange(t), np.arange(t))
        bias = visible = None
        if kind == "alibi":
            bias = np.where(apart >= 0, -slopes(self.h)[:, None, None] * apart, NEVER)[None]
        if kind in ("bias", "causal and bias"):
            bias = self.drawn(self.n_items, self.h, t, t)
        if kind in ("causal", "causal and bias"):
            visible = apart >= 0
        if kind == "window":
            visible = (apart >= 0) & (apart < 4)
        if kind == "padding":
            visible = np.broadcast_to(np.arange(t) < t - 3, (t, t))
        if kind == "some rows":
            visible = (apart >= 0) & (np.arange(t)[:, None] > 1)
        if kind == "packed":
            first = np.arange(t) < t // 2
            visible = (apart >= 0) & (first[:, None] == first)
        return bias, visible

    def used_masks(self, item):
        """The same as this code applies it."""
        t, mistake = self.t, self.mistake
        apart = np.subtract.outer(np.arange(t), np.arange(t))
        bias = None if self.bias is None else self.bias[(item + ("another" in mistake)) % len(self.bias)]
        visible = self.visible
        if "ALiBi" in mistake and "shifted" not in mistake:
            sign = -1 if "sign" in mistake else 1
            bias = np.where(apart >= 0, -sign * slopes(self.h, mistake)[:, None, None] * apart, NEVER)
        if "window" in mistake:
            size = 4 + ("wide" in mistake) - ("narrow" in mistake)
            visible = np.abs(apart) < size if "both" in mistake else (apart >= 0) & (apart < size)
            visible = apart >= 0 if "ignored" in mistake else visible
        if "no causal" in mistake:
            visible = None
        if "rows of queries" in mistake:
            visible = visible.T
        if "inverted" in mistake:
            visible = ~visible
        if self.past and visible is not None:
            visible = np.tri(t - self.past, t, dtype=bool) if "corner" in mistake else visible[self.past :]
        return bias, visible

    def projected(self, x, letter):
        source = "k" if "V from" in self.mistake and letter == "v" else letter
        y = x @ self.w[source] + (self.b[source] if self.b else 0)
        if "cut by view" in self.mistake:
            return y.reshape(-1, len(x), self.d)
        return y.reshape(len(x), -1, self.d).swapaxes(0, 1)

    def cut_otherwise(self, x):
        """q, k and v of a fused matrix that was cut in another way than it is laid out."""
        h, d = self.h, self.d
        w, b = np.concatenate([self.w[e] for e in "qkv"], 1), np.concatenate([self.b[e] for e in "qkv"])
        if "in blocks" in self.mistake:  # it lies by heads
            w, b = (each.reshape(*each.shape[:-1], 3, h, d).swapaxes(-3, -2).reshape(each.shape) for each in (w, b))
            return [p.reshape(-1, h, d).swapaxes(0, 1) for p in np.split(x @ w + b, 3, 1)]
        return [*np.moveaxis((x @ w + b).reshape(-1, h, 3, d), (2, 1), (0, 1))]

    def normed(self, rows, letter):
        if not self.gains:
            return rows
        gain = self.gains[letter]
        if "over all heads" in self.mistake:
            return rows / np.sqrt(np.square(rows).mean(axis=(0, 2), keepdims=True) + 1e-6) * gain
        return rows / np.sqrt(np.square(rows).mean(axis=-1, keepdims=True) + 1e-6) * gain

    def rotated(self, rows, positions):
        pairs = self.layer.get("rope")
        if not pairs:
            return rows
        if "pairing" in self.mistake:
            pairs = "neighbours"
        angles = self.angles[positions]
        if "along the heads" in self.mistake:
            angles = self.angles[: len(rows), None]
        return turned(rows, angles, pairs, self.layer.get("factor", 1.0))

    def computed(self, item):
        x, t, past = self.x[item], self.t, self.past
        q, k, v = self.cut_otherwise(x) if "fused" in self.mistake else [self.projected(x, e) for e in "qkv"]
        own = {"q": q[:, past:], "k": k, "v": v}
        positions = self.layer.get("positions", np.arange(t))
        used = positions - past * (np.arange(t) >= past) if "restart" in self.mistake else positions
        q = self.rotated(self.normed(q, "q"), used)[:, past:]
        k = self.rotated(self.normed(k, "k"), used)
        repeat = (lambda e: np.tile(e, (self.h // self.g, 1, 1))) if "tiled" in self.mistake else self.repeated
        raw = q @ repeat(k).swapaxes(1, 2)
        divisor = {"divided by √d_model": self.h * self.d, "divided by √heads": self.h}.get(self.mistake, self.d) ** 0.5
        scores = raw * self.layer["scale"] if "scale" in self.layer else raw / divisor
        bias, visible = self.used_masks(item)
        attention = self.weights(scores, bias, visible)
        heads = attention @ repeat(v)
        concat = (
            heads.reshape(len(q[0]), -1) if "joined" in self.mistake else heads.swapaxes(0, 1).reshape(t - past, -1)
        )
        output = concat @ self.w["o"] + (self.b["o"] if self.b else 0)
        rotated = {"q_rotated": q, "k_rotated": k} if self.layer.get("rope") else {}
        return {**own, **rotated, "scores": raw, "attention": attention, "concat": concat, "output": output}

    def repeated(self, rows):
        return np.repeat(rows, self.h // self.g, axis=0)

    def weights(self, scores, bias, visible):
        mistake, capped = self.mistake, self.layer.get("cap")
        cap = (lambda each: CAP * np.tanh(each / CAP)) if capped else (lambda each: each)
        scores = scores if "cap after" in mistake else cap(scores)
        scores = scores if bias is None else scores + bias
        if visible is not None and "multiplied" in mistake:
            scores = scores * visible
        elif visible is not None and "after the softmax" not in mistake:
            scores = np.where(visible, scores, NEVER)
        scores = cap(scores) if "cap after" in mistake else scores
        attention = softmax(scores, 0 if "over heads" in mistake else -1)
        if "over heads" in mistake:
            attention = np.nan_to_num(attention)
        if "after the softmax" in mistake:
            attention = np.where(visible, attention, NEVER)
        if "see nothing" not in mistake:
            attention = np.nan_to_num(attention, nan=self.layer.get("filling", 0.0), neginf=NEVER)
        if "dropout" in mistake:
            attention = attention * (self.random.random(attention.shape) > 0.2) / 0.8
        return attention

    def along_the_batch(self):
        """Each token attends to those at its place in the other sentences."""
        q, k, v = (np.stack([each[e] for each in self.items]) for e in "qkv")  # (items, heads, tokens, d)
        scores = np.einsum("ihtd,jhtd->thij", q, k) / self.d**0.5
        weights = softmax(scores)
        concat = np.einsum("thij,jhtd->ithd", weights, v).reshape(self.n_items, self.t, -1)
        output = concat @ self.w["o"] + self.b["o"]
        self.attention = weights  # (tokens, heads, items, items)
        return [
            {**{e: each[e] for e in "qkv"}, "concat": concat[item], "output": output[item]}
            for item, each in enumerate(self.items)
        ]


# --- As libraries save it: the arrays of the parameters, and how stages are called and laid out


def by_heads(w, h):
    return w.reshape(len(w), h, -1)


def torch(own):
    w, b = own.w, own.b
    arrays = {"in_proj_weight": np.concatenate([w[e] for e in "qkv"], 1).T, "out_proj.weight": w["o"].T}
    if b:
        arrays |= {"in_proj_bias": np.concatenate([b[e] for e in "qkv"]), "out_proj.bias": b["o"]}
    return arrays, {"attention": "attn_output_weights", "output": "attn_output"}, "heads first"


def llama(own):
    path = "model.layers.0.self_attn."
    arrays = {f"{path}{e}_proj.weight": own.w[e].T for e in "qkvo"}
    arrays |= {f"{path}{e}_proj.bias": each for e, each in own.b.items()}
    arrays |= {f"{path}{e}_norm.weight": each for e, each in own.gains.items()}
    return arrays, {"x": "hidden_states", "attention": "attn_weights", "output": "attn_output"}, "heads first"


def bert(own):
    path, words = "encoder.layer.0.attention.", {"q": "self.query", "k": "self.key", "v": "self.value"}
    words["o"] = "output.dense"
    arrays = {f"{path}{word}.weight": own.w[e].T for e, word in words.items()}
    arrays |= {f"{path}{words[e]}.bias": each for e, each in own.b.items()}
    return arrays, {"x": "hidden_states", "attention": "attention_probs"}, "joined"


def gpt2(own):
    arrays = {"attn.c_attn.weight": np.concatenate([own.w[e] for e in "qkv"], 1), "attn.c_proj.weight": own.w["o"]}
    arrays |= {"attn.c_attn.bias": np.concatenate([own.b[e] for e in "qkv"]), "attn.c_proj.bias": own.b["o"]}
    return arrays, {"x": "hidden_states", "attention": "attn_weights", "output": "attn_output"}, "heads first"


def neox(own):
    whole = np.stack([by_heads(own.w[e], own.h) for e in "qkv"], 2).reshape(len(own.w["q"]), -1)
    bias = np.stack([own.b[e].reshape(own.h, -1) for e in "qkv"], 1).ravel()
    arrays = {"attention.query_key_value.weight": whole.T, "attention.query_key_value.bias": bias}
    arrays |= {"attention.dense.weight": own.w["o"].T, "attention.dense.bias": own.b["o"]}
    return arrays, {"x": "hidden_states", "attention": "attn_weights", "output": "attn_output"}, "heads first"


def lens(own):
    path = "blocks.0.attn."
    n = {"q": own.h, "k": own.g, "v": own.g}
    arrays = {f"{path}W_{e.upper()}": by_heads(own.w[e], n[e]).swapaxes(0, 1) for e in "qkv"}
    arrays[f"{path}W_O"] = own.w["o"].reshape(own.h, own.d, -1)
    arrays |= {f"{path}b_{e.upper()}": own.b[e].reshape(n[e], -1) for e in "qkv" if own.b}
    arrays |= {f"{path}b_O": own.b["o"]} if own.b else {}
    arrays |= {f"{path}{e}_norm.weight": each for e, each in own.gains.items()}
    hooks = {"attention": "pattern", "output": "attn_out", **{e: e for e in "qkv"}}
    return arrays, {stage: f"{path}hook_{name}" for stage, name in hooks.items()}, "heads second"


def flax(own):
    words, n = {"q": "query", "k": "key", "v": "value"}, {"q": own.h, "k": own.g, "v": own.g}
    arrays = {f"attn/{word}/kernel": by_heads(own.w[e], n[e]) for e, word in words.items()}
    arrays["attn/out/kernel"] = own.w["o"].reshape(own.h, own.d, -1)
    if own.b:
        arrays |= {f"attn/{word}/bias": own.b[e].reshape(n[e], -1) for e, word in words.items()}
        arrays["attn/out/bias"] = own.b["o"]
    arrays |= {f"attn/{e}_norm/weight": each for e, each in own.gains.items()}
    return arrays, {"x": "inputs", "attention": "attn_weights", "output": "out"}, "heads second"


def own_names(own):
    arrays = {f"w_{e}": own.w[e] for e in "qkvo"} | {f"b_{e}": own.b[e] for e in own.b}
    arrays |= {f"g_{e}_norm": each for e, each in own.gains.items()}
    return arrays, {"attention": "probs", "output": "y", "scores": "attn_scores"}, "heads first"


LAYOUTS = {"torch": torch, "llama": llama, "bert": bert, "gpt2": gpt2, "neox": neox, "lens": lens, "flax": flax}
LAYOUTS["own"] = own_names
_HIDES = ("torch",)  # where True in a mask hides


def saved(own, layout, stages, mask_given=True, batched=True):
    """The arrays of a layer, by the names and in the layouts of a library."""
    arrays, names, order = LAYOUTS[layout](own)
    new = slice(own.past, None)

    def laid_out(stage, value):
        if stage[0] in "qkv" and order != "heads first":
            value = value.swapaxes(1, 2)
            value = value.reshape(*value.shape[:2], -1) if order == "joined" else value
        return value if batched or len(value) > 1 else value[0]

    arrays = {names.get("x", "x"): own.x[:, new] if batched or len(own.x) > 1 else own.x[0, new], **arrays}
    if own.past:
        kept = {"k": own.stages.get("k_rotated", own.stages["k"]), "v": own.stages["v"]}
        arrays["past_key"], arrays["past_value"] = (kept[e][0, :, : own.past] for e in "kv")
    if own.layer.get("tables"):
        positions = own.layer.get("positions", np.arange(own.t))[new]
        angles = np.repeat(own.angles[positions], 2, -1) if own.layer["rope"] == "neighbours" else own.angles[positions]
        angles = angles if own.layer["rope"] == "neighbours" else np.concatenate([angles, angles], -1)
        factor = own.layer.get("factor", 1.0)
        arrays |= {"cos": factor * np.cos(angles), "sin": factor * np.sin(angles), "position_ids": positions}
    if "scale" in own.layer:
        arrays["scale"] = np.array(own.layer["scale"])
    if own.layer.get("cap"):
        arrays["softcap"] = np.array(CAP)
    if mask_given:
        arrays |= masks_as(own, layout)
    for stage in stages:
        value = own.attention if stage == "attention" else own.stages.get(stage)
        if value is None or (layout == "lens" and stage == "scores"):
            continue
        value = value[..., new, :] if stage in "kv" and own.past else value
        arrays[names.get(stage, stage)] = laid_out(stage, value)
        rotated = own.stages.get(f"{stage}_rotated") if len(stage) == 1 else None
        if rotated is not None:
            rotated = rotated[..., new, :] if stage == "k" and own.past else rotated
            arrays[f"{stage}_rotated"] = laid_out(stage, rotated)
    return {name: np.asarray(each, own.dtype) if each.dtype.kind == "f" else each for name, each in arrays.items()}


def masks_as(own, layout):
    """The intended mask and bias in the ways of a library."""
    arrays = {}
    visible = own.visible[own.past :] if own.visible is not None else None
    if own.bias is not None:
        name = "attn_mask" if layout == "torch" and visible is None else "position_bias"
        arrays[name] = own.bias if len(own.bias) > 1 else own.bias[0]
    if visible is not None and own.mask_kind == "padding" and layout in ("torch", "llama", "bert"):
        row = visible[0]
        return arrays | ({"key_padding_mask": ~row[None]} if layout == "torch" else {"attention_mask": row.astype(int)})
    if visible is not None:
        hidden = np.where(visible, 0.0, np.finfo(np.float32).min)
        arrays |= {
            "torch": {"attn_mask": ~visible},
            "llama": {"attention_mask": hidden[None, None]},
            "gpt2": {"attention_mask": hidden[None, None]},
            "bert": {"attention_mask": hidden[None, None]},
        }.get(layout, {"mask": visible})
    return arrays


def seed_of(*words):
    return zlib.crc32(" ".join(words).encode())


def mistaken(kind, layout, stages):
    """The arrays of a layer with a mistake."""
    of, seed = KINDS[kind], seed_of(kind, layout)
    at = of.layouts.index(layout)
    t, h, d = SIZES[seed % len(SIZES)]
    size = (t, of.heads or h, d)
    dtype = (np.float64, np.float32)[at % 2]
    own = Layer(seed, size, kind, of.mask, dtype, batch=of.batch, **of.layer)
    given = of.given[at % len(of.given)]
    return saved(own, layout, STAGES[stages], given, batched=bool(seed % 2) or of.batch > 1)


def cases():
    """Every kind, layout and set of stages."""
    return [(kind, layout, each) for kind, of in KINDS.items() for layout in of.layouts for each in of.stages]


# --- Unusual and correct


def to_bfloat16(array):
    bits = np.asarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def _layer(name, mask="causal", dtype=np.float64, **layer):
    seed = seed_of(name)
    return Layer(seed, SIZES[seed % len(SIZES)], "", mask, dtype, **layer)


def _half(name, rounded):
    """As bert saves it: parameters, x and every stage in 16 bits, what is hidden added as -1e4."""
    own = _layer(name, "padding", np.float32)
    own.w, own.b = ({e: rounded(each) for e, each in of.items()} for of in (own.w, own.b))
    own.x = rounded(own.x)
    own.stages = {name: rounded(each[None]) for name, each in own.computed(0).items()}
    own.attention = own.stages["attention"]
    hidden = np.where(own.visible, 0, -1e4)
    arrays = saved(own, "bert", ("q", "attention", "output"), mask_given=False) | {"attention_mask": hidden[None, None]}
    return {name: rounded(each) for name, each in arrays.items()}


def _blockwise(own):
    """Attention by a running maximum, sum and output over blocks of three keys, as in FlashAttention."""
    stages, t = own.stages, own.t
    scores = np.where(own.visible, stages["scores"][0] / np.sqrt(own.d).astype(own.dtype), NEVER)
    largest, total = np.full((own.h, t, 1), NEVER, own.dtype), np.zeros((own.h, t, 1), own.dtype)
    output = np.zeros((own.h, t, own.d), own.dtype)
    for start in range(0, t, 3):
        block = scores[..., start : start + 3]
        now = np.maximum(largest, block.max(-1, keepdims=True))
        powers, before = np.exp(block - now), np.exp(largest - now)
        output = output * before + powers @ stages["v"][0][:, start : start + 3]
        total, largest = total * before + powers.sum(-1, keepdims=True), now
    concat = (output / total).swapaxes(0, 1).reshape(t, -1)
    return {"concat": concat, "output": concat @ own.w["o"] + own.b["o"]}


def _with_attention(name, layout, mask, changed):
    """A layer whose weights a function makes of its scaled scores."""
    own = _layer(name, mask)
    weights = changed(own.stages["scores"][0] / own.d**0.5)
    kept = weights[..., : own.t]
    concat = (kept @ own.stages["v"][0]).swapaxes(0, 1).reshape(own.t, -1)
    made = {"attention": weights, "output": concat @ own.w["o"] + own.b["o"]}
    arrays = saved(own, layout, STAGES["attention, output"], mask != "none")
    names = LAYOUTS[layout](own)[1]
    return arrays | {names.get(stage, stage): each for stage, each in made.items()}


def _with_sinks_of_0(name):
    def weights(scores):
        powers = np.exp(np.where(np.tri(scores.shape[-1], dtype=bool), scores, NEVER))
        return powers / (1 + powers.sum(-1, keepdims=True))

    arrays = _with_attention(name, "llama", "causal", weights)
    return arrays | {"model.layers.0.self_attn.sinks": np.zeros(arrays["attn_weights"].shape[0])}


def _with_key_of_zeros(name):
    def weights(scores):
        return softmax(np.concatenate([scores, np.zeros((*scores.shape[:-1], 1))], axis=-1))

    return _with_attention(name, "torch", "none", weights)


def _with_shifted_alibi(name):
    """BLOOM's: slopes times the key's position, the same for every query."""

    def biases(n_heads, t):
        return slopes(n_heads)[:, None, None] * np.arange(t)

    def weights(scores):
        visible = np.tri(scores.shape[-1], dtype=bool)
        return softmax(np.where(visible, scores + biases(len(scores), len(visible)), NEVER))

    arrays = _with_attention(name, "flax", "causal", weights)
    return arrays | {"alibi": biases(len(arrays["attn_weights"]), arrays["attn_weights"].shape[-1])}


def _with_one_linear(name):
    """Linear(d, d) applied to each head's part of x, as a well-known tutorial has it."""
    own = _layer(name, "none")
    w = {e: own.drawn(own.d, own.d) / own.d**0.5 for e in "qkv"}
    for e in "qkv":
        own.w[e] = np.kron(np.eye(own.h), w[e])
    own.b = {}
    own.stages = {stage: each[None] for stage, each in own.computed(0).items()}
    words = {"q": "queries", "k": "keys", "v": "values"}
    arrays = {f"attention.{words[e]}.weight": w[e].T for e in "qkv"} | {"attention.fc_out.weight": own.w["o"].T}
    return {"x": own.x, **arrays, **{each: own.stages[each] for each in ("attention", "output")}}


def _sequence_first(name):
    arrays = saved(_layer(name), "torch", STAGES["attention, output"], batched=True)
    return {each: array.swapaxes(0, 1) if each in ("x", "attn_output") else array for each, array in arrays.items()}


def _averaged(name):
    arrays = saved(_layer(name), "torch", STAGES["attention, output"], batched=True)
    return arrays | {"attn_output_weights": arrays["attn_output_weights"].mean(axis=1)}


def _packed(name):
    t = SIZES[seed_of(name) % len(SIZES)][0]
    positions = np.concatenate([np.arange(t // 2), np.arange(t - t // 2)])
    return saved(_layer(name, "packed", rope="halves", tables=True, positions=positions), "llama", STAGES["all"])


def _metas(name):
    arrays = saved(_layer(name, rope="neighbours"), "llama", STAGES["attention, output"])
    metas = {f"model.layers.0.self_attn.{e}_proj.weight": f"layers.0.attention.w{e}.weight" for e in "qkvo"}
    return {metas.get(each, each): array for each, array in arrays.items()}


def _yarn(name):
    """Slow angles divided by 4, and both tables multiplied, as `rope_type: yarn` has it."""
    own = _layer(name, rope="halves", tables=True, factor=1.1386)
    half = own.angles.shape[1]
    own.angles = own.angles / np.where(np.arange(half) < half // 2, 1, 4)
    own.stages = {stage: each[None] for stage, each in own.computed(0).items()}
    own.attention = own.stages["attention"]
    return saved(own, "llama", STAGES["attention, output"])


def _blocks(name):
    own = _layer(name, dtype=np.float32)
    return saved(own, "llama", ("q", "k", "v")) | {"attn_output": _blockwise(own)["output"]}


def _einsum(name):
    own = _layer(name, dtype=np.float32)
    q, k, v = (own.stages[e][0].swapaxes(0, 1) for e in "qkv")
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(own.d).astype(np.float32)
    attention = softmax(np.where(own.visible, scores, NEVER)).astype(np.float32)
    concat = np.einsum("hqk,khd->qhd", attention, v)
    made = {"attn/probs": attention, "out": np.einsum("qhd,hde->qe", concat, own.w["o"].reshape(own.h, own.d, -1))}
    made["out"] = made["out"] + own.b["o"]
    return saved(own, "flax", ()) | made


def _folded(name):
    own = _layer(name, scale=1.0)
    own.w["q"], own.b["q"] = own.w["q"] / own.d**0.5, own.b["q"] / own.d**0.5
    own.stages = {stage: each[None] for stage, each in own.computed(0).items()}
    own.attention = own.stages["attention"]
    return saved(own, "own", STAGES["attention, output"])


def _cosine(name):
    """q and k of length 1, and scores times a learned number that isn't among the arrays."""
    own = _layer(name, "none")
    q, k = (each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (own.stages["q"], own.stages["k"]))
    attention = softmax(10 * q @ k.swapaxes(-2, -1))
    return {"q": q, "k": k, "v": own.stages["v"], "attention": attention, "heads": attention @ own.stages["v"]}


def _autocast(name):
    """Products of matrices in bfloat16, the rest in float32, as torch.autocast has it."""
    own = _layer(name, dtype=np.float32)
    low = to_bfloat16

    def times(a, b):
        return low(low(a) @ low(b))

    q, k, v = (times(own.x[0], own.w[e]) + low(own.b[e]) for e in "qkv")
    q, k, v = (low(each).reshape(own.t, own.h, own.d).swapaxes(0, 1) for each in (q, k, v))
    scores = times(q, k.swapaxes(1, 2)) / np.float32(own.d**0.5)
    attention = softmax(np.where(own.visible, scores, NEVER)).astype(np.float32)
    concat = times(attention, v).swapaxes(0, 1).reshape(own.t, -1)
    output = low(times(concat, own.w["o"]) + low(own.b["o"]))
    own.w, own.b, own.x = {e: low(w) for e, w in own.w.items()}, {e: low(b) for e, b in own.b.items()}, low(own.x)
    return saved(own, "torch", ()) | {"attn_output_weights": low(attention)[None], "attn_output": output[None]}


CORRECT = {
    "Conv1D": lambda name: saved(_layer(name), "gpt2", STAGES["all"]),
    "float16 with -1e4": lambda name: _half(name, lambda e: e.astype(np.float16) if e.dtype.kind == "f" else e),
    "bfloat16": lambda name: _half(name, to_bfloat16),
    "sequence first": _sequence_first,
    "weights averaged over heads": _averaged,
    "packed sequences": _packed,
    "fully masked rows uniform": lambda name: saved(
        _layer(name, "some rows", filling=1 / SIZES[seed_of(name) % len(SIZES)][0]), "flax", STAGES["all"]
    ),
    "scale of 8": lambda name: saved(_layer(name, scale=8.0), "lens", STAGES["attention, output"]),
    "scale of 1": lambda name: saved(_layer(name, scale=1.0), "llama", STAGES["all"]),
    "sinks of 0": _with_sinks_of_0,
    "ALiBi shifted": _with_shifted_alibi,
    "Meta's RoPE": _metas,
    "blocks": _blocks,
    "autocast": _autocast,
    "cosine": _cosine,
    "einsum": _einsum,
    "YaRN with cos and sin": _yarn,
    "scale folded into W_Q": _folded,
    "key of zeros": _with_key_of_zeros,
    "one Linear for all heads": _with_one_linear,
    "decode step": lambda name: saved(_layer(name, past=4), "own", STAGES["all"]),
    "decode step with RoPE": lambda name: saved(
        _layer(name, past=4, rope="halves", tables=True), "llama", STAGES["all"]
    ),
    "batch of 3": lambda name: saved(_layer(name, "padding", batch=3), "torch", STAGES["all"]),
}
