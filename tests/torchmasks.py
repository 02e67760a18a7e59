"""Record what torch attends to with masks of each kind and in each precision; `tests/data/README.md` says how."""

import sys

import numpy as np


def main(path):
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    width, n_heads, n = 8, 2, 6
    later = torch.ones(n, n, dtype=torch.bool).triu(1)
    padded = torch.arange(n) >= 4
    added = torch.zeros(n, n).masked_fill(later, -torch.inf)

    def numpy(tensor):
        return tensor.detach().float().numpy() if tensor.dtype == torch.bfloat16 else tensor.detach().numpy()

    def of_module(seed, dtype=torch.float32, need_weights=True, saved=None, **masks):
        """A pass of nn.MultiheadAttention, its masks under their names, or under those in `saved`."""
        torch.manual_seed(seed)
        module = torch.nn.MultiheadAttention(width, n_heads, batch_first=True).to(dtype)
        x = torch.randn(1, n, width).to(dtype)
        output, shares = module(x, x, x, need_weights=need_weights, average_attn_weights=False, **masks)
        given = {name: each for name, each in masks.items() if torch.is_tensor(each)} if saved is None else saved
        return {"x": x, **module.state_dict(), **given, "attn_output": output} | (
            {"attn_output_weights": shares} if need_weights else {}
        )

    def of_function(seed, dtype=torch.float32, saved=None, **masks):
        """A pass of scaled_dot_product_attention, beside linear layers."""
        torch.manual_seed(seed)
        layers = {each: torch.nn.Linear(width, width).to(dtype) for each in ("q_proj", "k_proj", "v_proj", "out_proj")}
        x = torch.randn(n, width).to(dtype)
        q, k, v = (layers[f"{each}_proj"](x).view(n, n_heads, -1).transpose(0, 1)[None] for each in "qkv")
        heads = scaled_dot_product_attention(q, k, v, **masks)
        output = layers["out_proj"](heads[0].transpose(0, 1).reshape(n, width))
        given = {name: each for name, each in masks.items() if torch.is_tensor(each)} if saved is None else saved
        parameters = {
            f"{name}.{kind}": each for name, layer in layers.items() for kind, each in layer.state_dict().items()
        }
        return {"x": x, **parameters, **given, "output": output}

    cases = {
        "module, later hidden": of_module(1, attn_mask=later),
        "module, later and padding": of_module(2, attn_mask=later, key_padding_mask=padded[None]),
        "module, padding": of_module(3, key_padding_mask=padded[None]),
        "module, added": of_module(4, attn_mask=added),
        "module, is_causal": of_module(5, attn_mask=later, is_causal=True, need_weights=False, saved={}),
        "module, padding, causal": of_module(
            6, attn_mask=later, key_padding_mask=padded[None], saved={"key_padding_mask": padded[None]}
        ),
        "module, a mask of each head": of_module(7, attn_mask=later[None].repeat(n_heads, 1, 1)),
        "module, bfloat16": of_module(8, torch.bfloat16, attn_mask=later),
        "module, float64": of_module(9, torch.float64, attn_mask=later),
        "module, no mask": of_module(10),
        "module, padding in front": of_module(
            11, attn_mask=later, key_padding_mask=(torch.arange(n) < 2)[None], need_weights=True
        ),
        "function, True visible": of_function(12, attn_mask=~later),
        "function, is_causal": of_function(13, is_causal=True),
        "function, added": of_function(14, attn_mask=added),
        "function, padding in front": of_function(15, attn_mask=~later & (torch.arange(n) >= 2)),
        "function, bfloat16": of_function(16, torch.bfloat16, attn_mask=~later),
        "function, float16": of_function(17, torch.float16, attn_mask=~later),
        "function, True visible, as 0 and 1": of_function(
            18, attn_mask=~later, saved={"attention_mask": (~later).long()}
        ),
    }
    arrays = {f"{case}/{name}": numpy(each) for case, file in cases.items() for name, each in file.items()}
    np.savez_compressed(path, torch=torch.__version__, **arrays)


if __name__ == "__main__":
    main(sys.argv[1])
