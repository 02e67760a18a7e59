"""Correct files of attention, each computed and laid out as a library does it: its layouts, its masks, its rounding."""

from dataclasses import dataclass

import numpy as np

PRECISIONS = ("float64", "float32", "float32 as float64", "float16", "bfloat16", "TF32", "4 decimals", "6 decimals")
MASKS = ("none", "causal", "implicit", "padded right", "padded left", "padded left, causal", "random", "window", "both")
"""What hides keys; "implicit" is causal without a mask in the file, "both" a mask of two."""


def to_bits(array, bits):
    """The nearest numbers with so many bits."""
    fraction, exponent = np.frexp(array)
    with np.errstate(over="ignore"):
        return np.ldexp(np.rint(fraction * 2.0**bits) / 2.0**bits, exponent).astype(array.dtype)


@dataclass
class File:
    """What one person has: sizes, a mask, a precision."""

    random: np.random.Generator
    precision: str
    mask: str
    n_heads: int = 2
    d: int = 4
    n: int = 5

    @property
    def width(self):
        return self.n_heads * self.d

    @property
    def least(self):
        """The most negative number, which many libraries hide keys by."""
        is_half = self.precision == "float16"
        return self.carrier(np.finfo(np.float16 if is_half else self.carrier).min)

    @property
    def carrier(self):
        return np.float64 if self.precision == "float64" else np.float32

    def rounded(self, array):
        """What the processor keeps of a result."""
        array = np.asarray(array, self.carrier)
        with np.errstate(over="ignore"):
            if self.precision == "float16":
                return array.astype(np.float16).astype(np.float32)
        return to_bits(array, 8) if self.precision == "bfloat16" else array

    def times(self, a, b):
        """Matrices multiplied."""
        if self.precision == "TF32":
            a, b = to_bits(a, 11), to_bits(b, 11)
        return self.rounded(a @ b)

    def drawn(self, *shape, size=1.0):
        array = self.rounded(self.random.normal(size=shape) * size)
        return self.rounded(self.written(array)) if "decimals" not in self.precision else array

    def weight(self, *shape):
        return self.drawn(*shape, size=shape[0] ** -0.5)

    def written(self, array):
        """The numbers as they are saved."""
        array = np.asarray(array)
        if array.dtype.kind != "f":
            return array
        if "decimals" in self.precision:
            return np.round(array.astype(np.float64), int(self.precision[0]))
        if self.precision == "float32 as float64":
            return array.astype(np.float64)
        return array.astype(np.float16) if self.precision == "float16" and np.isfinite(array).all() else array

    def softmax(self, scores):
        with np.errstate(invalid="ignore"):
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return self.rounded(shares / shares.sum(axis=-1, keepdims=True))

    def hidden(self):
        """Which keys a query may not see, and of what two masks that is made: of each query, and of all."""
        causal = np.triu(np.ones((self.n, self.n), bool), 1)
        n_padded = int(self.random.integers(1, self.n))
        places = np.arange(self.n)
        nothing, right, left = np.zeros(self.n, bool), places >= self.n - n_padded, places < n_padded
        some = self.random.random((self.n, self.n)) < 0.4
        some[places, self.random.integers(0, self.n, self.n)] = False
        window = np.abs(places[:, None] - places) > 1
        of_queries, of_keys = {
            "none": (causal & False, nothing),
            "causal": (causal, nothing),
            "implicit": (causal, nothing),
            "padded right": (causal & False, right),
            "padded left": (causal & False, left),
            "padded left, causal": (causal, left),
            "random": (some, nothing),
            "window": (window, nothing),
            "both": (causal, right),
        }[self.mask]
        return of_queries, of_keys, of_queries | of_keys

    def one_of(self, *choices):
        return choices[self.random.integers(len(choices))]

    def some_of(self, stages, always):
        """Some of the stages that someone may have saved."""
        kept = {name: each for name, each in stages.items() if self.random.random() < 0.4}
        return kept or {always: stages[always]}


def split(y, n_heads):
    return y.reshape(len(y), n_heads, -1).transpose(1, 0, 2)


def joined(heads):
    return heads.transpose(1, 0, 2).reshape(heads.shape[1], -1)


def additive(file, hidden, by):
    return np.where(hidden, file.carrier(by), file.carrier(0))


def torch_attention(file):
    """torch.nn.MultiheadAttention: (out, in), q scaled before the product, True hidden, NaN for who sees nothing."""
    e, h = file.width, file.n_heads
    x, w, b = file.drawn(file.n, e), file.weight(3 * e, e), file.drawn(3 * e, size=0.1)
    w_o, b_o = file.weight(e, e), file.drawn(e, size=0.1)
    of_queries, of_keys, hidden = file.hidden()
    q, k, v = (split(each, h) for each in np.split(file.rounded(file.times(x, w.T) + b), 3, axis=1))
    scores = file.times(file.rounded(q * file.carrier(file.d**-0.5)), k.transpose(0, 2, 1))
    attention = file.softmax(np.where(hidden, file.carrier(-np.inf), scores))
    heads = file.times(attention, v)
    output = file.rounded(file.times(joined(heads), w_o.T) + b_o)
    weights = attention if file.one_of(True, False) else file.rounded(attention.mean(axis=0))
    masks = {}
    if file.mask != "implicit":
        if of_queries.any():
            whole = np.repeat(of_queries[None], h, axis=0) if file.one_of(True, False) else of_queries
            masks["attn_mask"] = whole if file.one_of(True, False) else additive(file, whole, -np.inf)
        if of_keys.any():
            masks["key_padding_mask"] = of_keys[None]
    batched = (lambda each: each[None]) if file.one_of(True, False) else (lambda each: each[:, None])
    return {
        "x": batched(x),
        "in_proj_weight": w,
        "in_proj_bias": b,
        "out_proj.weight": w_o,
        "out_proj.bias": b_o,
        **masks,
        **file.some_of({"attn_output": batched(output), "attn_output_weights": weights[None]}, "attn_output"),
    }


def torch_sdpa(file):
    """Linear layers around scaled_dot_product_attention: True visible, 0 for who sees nothing."""
    e, h = file.width, file.n_heads
    x = file.drawn(file.n, e)
    w = {each: file.weight(e, e) for each in "qkvo"}
    *_, hidden = file.hidden()
    q, k, v = (split(file.times(x, w[each].T), h) for each in "qkv")
    root = file.carrier(file.d**-0.25)
    scores = file.times(file.rounded(q * root), file.rounded(k * root).transpose(0, 2, 1))
    attention = np.nan_to_num(file.softmax(np.where(hidden, file.carrier(-np.inf), scores)), nan=0)
    heads = file.times(attention, v)
    output = file.times(joined(heads), w["o"].T)
    mask = {"bool": ~hidden, "whole": (~hidden)[None, None].astype(int), "added": additive(file, hidden, -np.inf)}[
        file.one_of("bool", "whole", "added")
    ]
    return {
        "x": x[None],
        **{f"{each}_proj.weight": w[each] for each in "qkvo"},
        **({} if file.mask in ("none", "implicit") else {"attn_mask": mask}),
        **file.some_of({"q": q[None], "k": k[None], "v": v[None], "heads": heads[None], "y": output[None]}, "y"),
    }


def gpt2(file):
    """Hugging Face's GPT-2: Conv1D is (in, out), always causal, the least number for what is hidden, padding added."""
    e, h = file.width, file.n_heads
    x, w, b = file.drawn(file.n, e), file.weight(e, 3 * e), file.drawn(3 * e, size=0.1)
    w_o, b_o = file.weight(e, e), file.drawn(e, size=0.1)
    of_queries, of_keys, _ = file.hidden()
    of_queries = np.triu(np.ones((file.n, file.n), bool), 1)
    q, k, v = (split(each, h) for each in np.split(file.rounded(file.times(x, w) + b), 3, axis=1))
    scores = file.rounded(file.times(q, k.transpose(0, 2, 1)) / file.carrier(file.d**0.5))
    with np.errstate(over="ignore"):
        scores = np.where(of_queries, file.least, scores) + additive(file, of_keys, file.least)
    attention = file.softmax(scores)
    heads = file.times(attention, v)
    output = file.rounded(file.times(joined(heads), w_o) + b_o)
    mask = (~of_keys)[None]
    mask = {
        "int": mask.astype(np.int64),
        "bool": mask,
        "float": mask.astype(np.float32),
        "added": additive(file, of_keys, file.least)[None, None, None],
    }[file.one_of("int", "bool", "float", "added")]
    return {
        "hidden_states": x[None],
        "h.0.attn.c_attn.weight": w,
        "h.0.attn.c_attn.bias": b,
        "h.0.attn.c_proj.weight": w_o,
        "h.0.attn.c_proj.bias": b_o,
        **({"attention_mask": mask} if of_keys.any() else {}),
        **file.some_of({"attn_weights": attention[None], "attn_output": output[None], "query": q[None]}, "attn_output"),
    }


def nanogpt(file):
    """nanoGPT: GPT-2's names, (out, in), causal by -inf, no biases."""
    e, h = file.width, file.n_heads
    x, w, w_o = file.drawn(file.n, e), file.weight(3 * e, e), file.weight(e, e)
    causal = np.tri(file.n, dtype=bool)
    q, k, v = (split(each, h) for each in np.split(file.times(x, w.T), 3, axis=1))
    scores = file.rounded(file.times(q, k.transpose(0, 2, 1)) * file.carrier(1 / file.d**0.5))
    masked = np.where(causal, scores, file.carrier(-np.inf))
    attention = file.softmax(masked)
    output = file.times(joined(file.times(attention, v)), w_o.T)
    mask = file.one_of({}, {"mask": causal[None, None].astype(np.float32)}, {"causal_mask": causal})
    return {
        "x": x[None],
        "transformer.h.0.attn.c_attn.weight": w,
        "transformer.h.0.attn.c_proj.weight": w_o,
        **mask,
        **file.some_of({"att": attention[None], "masked": masked, "y": output[None]}, "y"),
    }


def bert(file):
    """BERT: (out, in), what hides is added, -10,000 or the least number."""
    e, h = file.width, file.n_heads
    names = {"q": "self.query", "k": "self.key", "v": "self.value", "o": "output.dense"}
    x = file.drawn(file.n, e)
    w = {each: file.weight(e, e) for each in names}
    b = {each: file.drawn(e, size=0.1) for each in names}
    *_, of_keys, hidden = file.hidden()
    q, k, v = (split(file.rounded(file.times(x, w[each].T) + b[each]), h) for each in "qkv")
    added = additive(file, hidden, file.one_of(-10_000, file.least))
    scores = file.rounded(file.rounded(file.times(q, k.transpose(0, 2, 1)) / file.carrier(file.d**0.5)) + added)
    attention = file.softmax(scores)
    context = joined(file.times(attention, v))
    output = file.rounded(file.times(context, w["o"].T) + b["o"])
    is_of_keys = (hidden == of_keys).all() and of_keys.any()
    mask = file.one_of((~of_keys)[None].astype(int), added[:1][None, None]) if is_of_keys else added[None, None]
    return {
        "hidden_states": x[None],
        **{f"attention.{name}.weight": w[each] for each, name in names.items()},
        **{f"attention.{name}.bias": b[each] for each, name in names.items()},
        **({} if file.mask in ("none", "implicit") else {"attention_mask": mask}),
        **file.some_of({"attention_probs": attention[None], "concat": context, "output": output[None]}, "output"),
    }


def rotated(file, rows, base):
    """Rows turned by their positions, with complex numbers; a dimension and the one half of them further are a pair."""
    half = file.d // 2
    turns = np.exp(1j * np.outer(np.arange(file.n), float(base) ** (-np.arange(half) / half)))
    turned = (rows[..., :half] + 1j * rows[..., half:]) * turns.astype(np.complex64)
    return file.rounded(np.concatenate([turned.real, turned.imag], axis=-1))


def rotated_in_neighbours(file, rows, base):
    """Rows turned as in GPT-J, each sine, product and sum rounded; a dimension and the next are a pair."""
    angles = np.outer(np.arange(file.n), float(base) ** (-np.arange(0, file.d, 2) / file.d)).astype(np.float32)
    cos, sin = file.rounded(np.cos(angles)), file.rounded(np.sin(angles))
    one, other = rows[..., ::2], rows[..., 1::2]
    turned = (file.rounded(one * cos) - file.rounded(other * sin), file.rounded(one * sin) + file.rounded(other * cos))
    return file.rounded(np.stack(turned, axis=-1).reshape(rows.shape))


def llama(file, rotated=rotated):
    """Llama: queries and keys rotated, which share keys and values, the least number for what is hidden."""
    e, h = file.width, file.n_heads
    g = file.one_of(*(g for g in range(1, h + 1) if h % g == 0))
    x = file.drawn(file.n, e)
    w = {"q": file.weight(e, e), "k": file.weight(g * file.d, e), "v": file.weight(g * file.d, e)}
    w["o"] = file.weight(e, e)
    *_, hidden = file.hidden()
    q, k, v = (split(file.times(x, w[each].T), len(w[each]) // file.d) for each in "qkv")
    base = file.one_of(10_000, 500_000, 1_000_000)
    if file.d % 2 == 0:
        q, k = (rotated(file, each, base) for each in (q, k))
    shared = [np.repeat(each, h // g, axis=0) for each in (k, v)]
    scores = file.rounded(file.times(q, shared[0].transpose(0, 2, 1)) * file.carrier(file.d**-0.5))
    added = additive(file, hidden, file.least)
    attention = file.softmax(file.rounded(np.maximum(scores + added, file.least)))
    output = file.times(joined(file.times(attention, shared[1])), w["o"].T)
    mask = added[None, None] if file.one_of(True, False) else (~hidden)[None, None]
    return {
        "hidden_states": x[None],
        **{f"model.layers.0.self_attn.{each}_proj.weight": w[each] for each in "qkvo"},
        **({} if file.mask in ("none", "implicit") else {"attention_mask": mask}),
        **file.some_of({"attn_weights": attention[None], "attn_output": output[None], "k": k[None]}, "attn_output"),
    }


def transformer_lens(file):
    """TransformerLens: a matrix for each head, scores that are scaled and masked, by -inf."""
    e, h, d = file.width, file.n_heads, file.d
    x = file.drawn(file.n, e)
    w = {each: file.weight(h, e, d) * file.carrier((h / e) ** 0.5) for each in "QKV"}
    w = {each: file.rounded(w[each]) for each in w} | {"O": file.drawn(h, d, e, size=e**-0.5)}
    b = {each: file.drawn(h, d, size=0.1) for each in "QKV"} | {"O": file.drawn(e, size=0.1)}
    *_, hidden = file.hidden()
    q, k, v = (file.rounded(file.times(x, w[each]) + b[each][:, None]) for each in "QKV")
    scores = file.rounded(file.times(q, k.transpose(0, 2, 1)) / file.carrier(d**0.5))
    scores = np.where(hidden, file.carrier(-np.inf), scores)
    pattern = np.nan_to_num(file.softmax(scores), nan=0)
    z = file.times(pattern, v).transpose(1, 0, 2)
    out = file.rounded(np.einsum("qhd,hde->qe", z, w["O"]) + b["O"])
    hooks = {"q": q.transpose(1, 0, 2), "attn_scores": scores, "pattern": pattern, "z": z, "attn_out": out}
    hooks = {f"blocks.0.attn.hook_{each}": value[None] for each, value in hooks.items()}
    return {
        "blocks.0.ln1.hook_normalized": x[None],
        **{f"blocks.0.attn.W_{each}": w[each] for each in "QKVO"},
        **{f"blocks.0.attn.b_{each}": b[each] for each in "QKVO"},
        **({} if file.mask in ("none", "implicit") else {"mask": ~hidden}),
        **file.some_of(hooks, "blocks.0.attn.hook_pattern"),
    }


def kernels(file):
    """The parameters of Keras and Flax: (in, heads, out), and (heads, out, in) at the end."""
    e, h, d = file.width, file.n_heads, file.d
    w = {each: file.weight(e, h, d) for each in "qkv"} | {"o": file.drawn(h, d, e, size=e**-0.5)}
    b = {each: file.drawn(h, d, size=0.1) for each in "qkv"} | {"o": file.drawn(e, size=0.1)}
    x = file.drawn(file.n, e)
    q, k, v = (file.rounded(np.einsum("te,ehd->thd", x, w[each]) + b[each]) for each in "qkv")
    return x, w, b, q, k, v


def keras(file):
    """Keras: q scaled first, True visible, -1e9 added where a key is hidden."""
    x, w, b, q, k, v = kernels(file)
    *_, hidden = file.hidden()
    scaled = file.rounded(q * file.carrier(file.d**-0.5))
    scores = file.rounded(np.einsum("thd,shd->hts", scaled, k))
    by = -3e4 if file.precision == "float16" else -1e9
    attention = file.softmax(file.rounded(scores + additive(file, hidden, by)))
    heads = file.rounded(np.einsum("hts,shd->thd", attention, v))
    output = file.rounded(np.einsum("thd,hde->te", heads, w["o"]) + b["o"])
    names = {"q": "query", "k": "key", "v": "value", "o": "attention_output"}
    mask = (~hidden)[None]
    return {
        "x": x[None],
        **{f"mha/{name}/kernel": w[each] for each, name in names.items()},
        **{f"mha/{name}/bias": b[each] for each, name in names.items()},
        **({} if file.mask in ("none", "implicit") else {"attention_mask": mask if file.d > 2 else mask.astype(int)}),
        **file.some_of({"attention_scores": attention[None], "attention_output": output[None]}, "attention_output"),
    }


def flax(file):
    """Flax: q scaled first, a mask of ones and zeros, the least number where a key is hidden."""
    x, w, b, q, k, v = kernels(file)
    *_, hidden = file.hidden()
    scaled = file.rounded(q / file.carrier(file.d**0.5))
    scores = np.where(hidden, file.least, file.rounded(np.einsum("thd,shd->hts", scaled, k)))
    attention = file.softmax(scores)
    heads = file.rounded(np.einsum("hts,shd->thd", attention, v))
    output = file.rounded(np.einsum("thd,hde->te", heads, w["o"]) + b["o"])
    names = {"q": "query", "k": "key", "v": "value", "o": "out"}
    return {
        "inputs": x[None],
        **{f"params/{name}/kernel": w[each] for each, name in names.items()},
        **{f"params/{name}/bias": b[each] for each, name in names.items()},
        **({} if file.mask in ("none", "implicit") else {"mask": (~hidden)[None, None].astype(np.float32)}),
        **file.some_of({"attention_weights": attention[None], "z": heads[None], "output": output[None]}, "output"),
    }


def onnx(file):
    """ONNX: Q, K, V are what goes in, each scaled by the root of the root, True visible, 0 for who sees nothing."""
    h, d = file.n_heads, file.d
    g = file.one_of(*(g for g in range(1, h + 1) if h % g == 0))
    q, k, v = file.drawn(h, file.n, d), file.drawn(g, file.n, d), file.drawn(g, file.n, d)
    *_, hidden = file.hidden()
    shared = [np.repeat(each, h // g, axis=0) for each in (k, v)]
    root = file.carrier(d**-0.25)
    scores = file.times(file.rounded(q * root), file.rounded(shared[0] * root).transpose(0, 2, 1))
    scores = np.where(hidden, file.carrier(-np.inf), scores)
    attention = np.nan_to_num(file.softmax(scores), nan=0)
    y = file.times(attention, shared[1])
    flat = file.one_of(True, False) and g == h
    laid = (lambda each: joined(each)[None]) if flat else (lambda each: each[None])
    mask = ~hidden if file.one_of(True, False) else additive(file, hidden, -np.inf)
    return {
        **{name: laid(each) for name, each in zip("QKV", (q, k, v), strict=True)},
        **({} if file.mask in ("none", "implicit") else {"attn_mask": mask}),
        "attention": attention[None],
        "heads" if not flat else "concat": laid(y),
    }


def microgpt(file):
    """microgpt: lists of rows, (out, in), no biases, causal by looking at what has come."""
    e, h, d = file.width, file.n_heads, file.d
    x = file.drawn(file.n, e)
    w = {each: file.weight(e, e) for each in "qkvo"}
    q, k, v = (split(file.times(x, w[each].T), h) for each in "qkv")
    attention = np.zeros((h, file.n, file.n), file.carrier)
    for t in range(file.n):
        scores = file.rounded(file.times(q[:, t : t + 1], k[:, : t + 1].transpose(0, 2, 1)) / file.carrier(d**0.5))
        attention[:, t : t + 1, : t + 1] = file.softmax(scores)
    output = file.times(joined(file.times(attention, v)), w["o"].T)
    return {
        "x": x,
        **{f"layer0.attn_w{each}": w[each] for each in "qkvo"},
        **file.some_of({"attention": attention, "q": q, "output": output}, "output"),
    }


ALL = torch_attention, torch_sdpa, gpt2, nanogpt, bert, llama, transformer_lens, keras, flax, onnx, microgpt
LIBRARIES = {each.__name__: each for each in ALL}


def correct_file(number):
    """The file of a number: of each library, mask and precision in turn, and sizes by chance."""
    random = np.random.default_rng(number)
    library = list(LIBRARIES)[number % len(LIBRARIES)]
    file = File(
        random,
        PRECISIONS[number // len(LIBRARIES) % len(PRECISIONS)],
        MASKS[number // (len(LIBRARIES) * len(PRECISIONS)) % len(MASKS)],
        n_heads=int(random.choice([1, 2, 3, 4])),
        d=int(random.choice([2, 3, 4, 8])),
        n=int(random.integers(2, 10)),
    )
    return library, file, {name: file.written(each) for name, each in LIBRARIES[library](file).items()}
