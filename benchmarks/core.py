"""A pass with every stage kept: its time against plain NumPy and torch in the same run, and its memory.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.core

Without the two variables NumPy and torch choose their numbers of threads by rules of their own. All take turns, and
the best of each is taken: only the ratios carry over to another machine. "attend" is the call, which computes no number
before it is needed; "all" also reads every stage. Torch, if this Python has it, is called as it is fastest: a batch of
one sentence, in evaluation, with both biases.
"""

import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from largest import ADDRESS

from attnviz import Parameters, Settings, attend, trace_of
from attnviz.core.trace import Trace
from attnviz.scene.address import parse
from attnviz.scene.with_pass import settings_of

try:
    import torch
except ImportError:
    torch = None

SIZES = ((8, 64, 4), (64, 64, 8), (128, 512, 8), (512, 512, 8), (1024, 512, 8))
SECONDS = 4  # for each size
MAX_MEMORY = 1.2  # times the size of the stages
Tasks = Mapping[str, Callable[[], object]]
COLUMNS = [(clock, name) for clock in range(2) for name in ("torch", "NumPy")]
SETTINGS = {"default": Settings("the cat sat on the mat"), "costliest": settings_of(parse(ADDRESS).scene)}


def plain(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray, w_o: np.ndarray) -> dict[str, np.ndarray]:
    """The same mathematics, every array kept."""
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = q @ k.swapaxes(-1, -2)
    scaled = scores / np.sqrt(q.shape[-1])
    mask = np.ones(scores.shape[-2:], dtype=bool)
    masked = np.where(mask, scaled, -np.inf)
    exponentials = np.exp(masked - masked.max(axis=-1, keepdims=True))
    attention = exponentials / exponentials.sum(axis=-1, keepdims=True)
    heads = attention @ v
    concat = np.concatenate(heads, axis=-1)
    contributions = heads @ w_o.reshape(*heads.shape[::2], -1)
    output = concat @ w_o
    return {name: array for name, array in locals().items() if name != "exponentials"}


def everything(make: Callable[[], Trace]) -> dict[str, np.ndarray]:
    """The numbers of every stage."""
    return {stage.name: stage.value for stage in make().stages}


def torch_attention(x: np.ndarray, n_heads: int) -> Callable[[], object]:
    """Torch's own attention, with the attention weights of each head."""
    d_model = x.shape[-1]
    module = torch.nn.MultiheadAttention(d_model, n_heads, batch_first=True, dtype=torch.float64).eval()
    batch = torch.from_numpy(x)[None]
    call = partial(module, batch, batch, batch, need_weights=True, average_attn_weights=False)
    return torch.no_grad()(call)


def best(tasks: Tasks) -> dict[str, np.ndarray]:
    """The least time of each, the processor's and the wall's, in milliseconds; all take turns."""
    least, end = dict.fromkeys(tasks, np.full(2, np.inf)), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for name, task in tasks.items():
            start = np.array([time.process_time(), time.perf_counter()])
            task()
            took = np.array([time.process_time(), time.perf_counter()]) - start
            least[name] = np.minimum(least[name], took * 1e3)
    return least


def memory(make: Callable[[], Trace]) -> float:
    """The peak memory of making a pass, in times the size of the stages it makes."""
    before = everything(make)  # with the parameters, and whatever is loaded once
    tracemalloc.start()
    arrays = everything(make)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    shared = {id(array) for array in before.values()}
    sizes = {id(array): array.nbytes for array in arrays.values() if id(array) not in shared}  # one may be two stages
    return peak / sum(sizes.values())


def print_row(title: str, make: Callable[[], Trace], peers: Tasks, times_torch: float = np.inf) -> bool:
    """Print one line of the table; returns whether it is within its aims."""
    times = best({"attend": make, "all": partial(everything, make), **peers})
    ratios = {name: times["all"] / times[name] for name in peers}
    columns = (f"{ratios[name][clock]:9.2f}" if name in ratios else f"{'-':>9}" for clock, name in COLUMNS)
    most = memory(make)
    print(f"{title:<18}{times['attend'][0]:10.3f}{times['all'][0]:10.3f}{''.join(columns)}{most:9.2f}", flush=True)
    return most <= MAX_MEMORY and ("torch" not in ratios or ratios["torch"][0] <= times_torch)


def main() -> int:
    """Print the table; 1 if a pass takes more than its times torch's time, or its times the stages' memory."""
    is_within = True
    threads = {name: os.environ.get(name, "not set") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    print(f"threads: {', '.join(f'{name} {number}' for name, number in threads.items())}")
    print("tokens, d_model, heads; the processor's ms; times torch and plain NumPy; peak memory over the stages' own")
    print(f"{'':<38}{'processor':^18}{'wall':^18}")
    print(f"{'':<18}{'attend':>10}{'all':>10}{''.join(f'/ {name}'.rjust(9) for _, name in COLUMNS)}{'memory':>9}")
    draw = np.random.default_rng(0).standard_normal
    for n_tokens, d_model, n_heads in SIZES:
        x, shape = draw((n_tokens, d_model)), (n_heads, d_model, d_model // n_heads)
        w_q, w_k, w_v = (draw(shape) / np.sqrt(d_model) for _ in range(3))
        w_o = draw((d_model, d_model)) / np.sqrt(d_model)
        make = partial(attend, x, parameters=Parameters(w_q, w_k, w_v, w_o))
        for name, array in plain(x, w_q, w_k, w_v, w_o).items():
            np.testing.assert_allclose(make()[name].value, array, atol=1e-12, err_msg=name)
        peers = {"NumPy": partial(plain, x, w_q, w_k, w_v, w_o)}
        if torch:
            peers["torch"] = torch_attention(x, n_heads)
        is_within &= print_row(f"{n_tokens}, {d_model}, {n_heads}", make, peers, 1.0 if n_tokens <= 64 else 1.5)
    for name, settings in SETTINGS.items():
        print_row(name, partial(trace_of, settings), {})
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
