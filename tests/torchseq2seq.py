"""Encoders and decoders by PyTorch: `PYTHONPATH=.:tests python tests/torchseq2seq.py` records them, as `.ci/torch`."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parent / "data" / "torch_seq2seq.npz"
D_MODEL, HEADS, NEURONS, ANSWERS, SOURCE, TARGET = 6, 2, 5, 4, 5, 3


@dataclass(frozen=True)
class Case:
    """What a Transformer's layers are, from norms before attention on; all have an MLP."""

    norm: str = "layernorm"
    activation: str = "relu"
    bias: bool = True
    layers: tuple[int, int] = (2, 2)  # of the encoder and of the decoder
    memory_norm: bool = True
    padded: int = 0  # so many of the last words of the source are hidden from all


CASES = {
    "layers with biases": Case(),
    "a padded source, gelu, memory not normed": Case(activation="gelu", layers=(2, 1), memory_norm=False, padded=2),
    "rmsnorm without biases": Case("rmsnorm", bias=False, layers=(1, 2)),
}


def made(torch, case: Case):
    """The encoder, the decoder, the unembedding and what enters, with numbers drawn by NumPy in one order."""
    from torch import nn

    kinds = {"activation": case.activation, "batch_first": True, "norm_first": True, "bias": case.bias}
    sizes = {"d_model": D_MODEL, "nhead": HEADS, "dim_feedforward": NEURONS, "dropout": 0.0, "dtype": torch.float64}
    norm = nn.LayerNorm if case.norm == "layernorm" else nn.RMSNorm
    last = norm(D_MODEL, eps=1e-5, dtype=torch.float64) if case.memory_norm else None
    of_encoder, of_decoder = case.layers
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**sizes, **kinds), of_encoder, last, enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**sizes, **kinds), of_decoder)
    if case.norm == "rmsnorm":
        for layer in (*encoder.layers, *decoder.layers):
            for name in [name for name, _ in layer.named_children() if name.startswith("norm")]:
                setattr(layer, name, norm(D_MODEL, eps=1e-5, dtype=torch.float64))
    unembedding = nn.Linear(D_MODEL, ANSWERS, bias=False, dtype=torch.float64)
    entering = nn.ParameterDict({"source": torch.zeros(SOURCE, D_MODEL), "target": torch.zeros(TARGET, D_MODEL)})
    return nn.ModuleDict({"encoder": encoder, "decoder": decoder, "w_u": unembedding, "entering": entering}).double()


def record(name: str) -> tuple[dict[str, np.ndarray], dict[str, list[int]]]:
    """What goes in, what comes out, and the slopes of a sum of all logits; and the shapes of what goes in, by name."""
    import torch

    case, draw = CASES[name], np.random.default_rng([*CASES].index(name)).standard_normal
    module = made(torch, case)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.from_numpy(np.round(draw(tuple(parameter.shape)) * 32) / 64))
    hidden = torch.zeros(SOURCE, dtype=torch.bool)
    hidden[SOURCE - case.padded :] = True
    entering = module["entering"]
    memory = module["encoder"](entering["source"][None], src_key_padding_mask=hidden[None])
    future = torch.ones(TARGET, TARGET, dtype=torch.bool).triu(1)
    output = module["decoder"](entering["target"][None], memory, tgt_mask=future, memory_key_padding_mask=hidden[None])
    logits = module["w_u"](output)[0]
    upstream = torch.from_numpy(draw((TARGET, ANSWERS)))
    given = dict(module.named_parameters())
    slopes = torch.autograd.grad((logits * upstream).sum(), [*given.values()])
    flat = {"given": torch.cat([each.flatten() for each in given.values()]).half()}  # whole numbers of 64ths
    flat |= {"slopes": torch.cat([each.flatten() for each in slopes])}
    flat |= {"memory": memory[0], "output": output[0], "logits": logits, "upstream": upstream}
    return {each: tensor.detach().numpy() for each, tensor in flat.items()}, {n: [*p.shape] for n, p in given.items()}


if __name__ == "__main__":
    import torch

    found = {name: record(name) for name in CASES}
    about = {"torch": torch.__version__, "shapes": {name: shapes for name, (_, shapes) in found.items()}}
    arrays = {f"{name}/{each}": array for name, (recorded, _) in found.items() for each, array in recorded.items()}
    np.savez_compressed(RECORDED, about=np.array(json.dumps(about)), **arrays)
    sys.stdout.write(f"{len(CASES)} cases by PyTorch {torch.__version__}: {RECORDED.stat().st_size:,} bytes\n")
