"""Functions and methods of Python and torch whose results are known by their names."""

from __future__ import annotations

import re

NUMBERS = frozenset(
    {
        "item",
        "tolist",
        "numpy",
        "float",
        "int",
        "bool",
        "len",
        "str",
        "repr",
        "isinstance",
        "hasattr",
        "range",
        "format",
    }
    | {"dim", "numel", "element_size", "data_ptr", "get_device", "size", "is_contiguous", "type", "id", "hash"}
    | {"ref", "proxy", "WeakMethod", "nbytes", "print", "nelement", "decode", "batch_decode", "keys"}
)
"""What gives no tensor whatever it is given."""
OF_TENSORS = frozenset({"detach", "detach_", "cpu", "cuda", "requires_grad_", "contiguous", "unsqueeze", "squeeze"})
"""Methods that nothing but tensors has."""
OF_CONTAINERS = frozenset(name for kind in (list, dict, set, str) for name in dir(kind)) | {"popleft", "index_fill"}
"""Methods that containers have: what they are called on may be one."""
RUNNING = frozenset({"submit", "to_thread", "run_in_executor", "apply_async", "apply", "run_sync"})
"""Calls that are given a function with its arguments, and that give back what leads to its result."""
CASTS = frozenset({"float", "type"})
"""Methods that give a tensor where the function of the name, or what is asked without arguments, gives none."""
PASSING = frozenset(
    {"zip", "map", "enumerate", "reversed", "sorted", "next", "iter", "max", "min", "filter", "chain"}
    | {"reduce", "vars", "replace", "asdict"}
)
"""What gives on what it is given, or parts of it."""
NOT_TENSORS = frozenset(
    {"device", "Generator", "manual_seed", "no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "load"}
    | {"save", "compile", "is_tensor", "is_grad_enabled", "get_default_dtype", "set_default_dtype", "Size", "dtype"}
    | {"finfo", "iinfo", "autocast", "typename", "numel", "is_floating_point", "is_complex", "equal", "allclose"}
    | {"get_rng_state", "set_rng_state", "seed", "initial_seed", "set_printoptions", "is_autocast_enabled"}
    | {"use_deterministic_algorithms", "set_num_threads", "get_num_threads", "promote_types", "result_type"}
    | {"can_cast", "is_inference_mode_enabled", "get_float32_matmul_precision", "set_float32_matmul_precision"}
    | {"broadcast_shapes", "script", "are_deterministic_algorithms_enabled", "memory_format", "layout"}
)
"""Functions of torch that give no tensor."""
ACTIVATIONS = re.compile(
    r"x|z|h|hidden|hidden_states?|features?|inputs_embeds|embeddings?|latents?|states?|scores|query"
)
"""What parameters of a `forward` are called that the module before it made."""
NAMED = frozenset({"named_parameters", "named_modules", "named_buffers", "named_children", "items", "enumerate"})
"""What gives pairs of a name, or a number, and a value."""
