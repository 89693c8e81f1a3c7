"""Small models of many kinds, each a training step that says when its forward is over and its backward begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

Step = Callable[[Callable[[], None]], None]
"""A training step; its argument is to be called between forward and backward."""


def _training(model: nn.Module, loss_of: Callable[[], torch.Tensor], **optimizer: Any) -> Step:
    chosen = torch.optim.AdamW(model.parameters(), **optimizer)

    def step(at_end_of_forward: Callable[[], None]) -> None:
        loss = loss_of()
        at_end_of_forward()
        loss.backward()
        chosen.step()
        chosen.zero_grad()

    return step


def mlp() -> Step:
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 10))
    return _training(model, lambda: F.cross_entropy(model(torch.randn(16, 32)), torch.randint(10, (16,))))


def mlp_with_dropout() -> Step:
    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Dropout(0.3), nn.LayerNorm(64), nn.Linear(64, 1))
    return _training(model, lambda: F.mse_loss(model(torch.randn(16, 32)), torch.randn(16, 1)))


def in_place() -> Step:
    model = nn.Sequential(
        nn.Linear(32, 64), nn.ReLU(inplace=True), nn.Linear(64, 64), nn.Hardtanh(inplace=True), nn.Linear(64, 4)
    )
    return _training(model, lambda: model(torch.randn(16, 32)).pow(2).mean())


def cnn() -> Step:
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))  # fmt: skip
    return _training(model, lambda: F.cross_entropy(model(torch.randn(4, 3, 20, 20)), torch.randint(10, (4,))))


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.norms = nn.ModuleList(nn.GroupNorm(2, channels) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = self.first(F.silu(self.norms[0](x)))
        return x + self.second(F.silu(self.norms[1](inner)))


def resnet() -> Step:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2), *(Residual(8) for _ in range(3)), nn.Flatten(), nn.LazyLinear(5)
    )
    model(torch.randn(1, 3, 16, 16))
    return _training(model, lambda: model(torch.randn(4, 3, 16, 16)).logsumexp(1).mean())


def lstm() -> Step:
    model = nn.LSTM(12, 20, num_layers=2, batch_first=True, bidirectional=True)
    return _training(model, lambda: model(torch.randn(4, 9, 12))[0].square().mean())


def gru_by_cells() -> Step:
    cell, head = nn.GRUCell(12, 20), nn.Linear(20, 3)
    model = nn.ModuleList([cell, head])

    def loss() -> torch.Tensor:
        hidden = torch.zeros(4, 20)
        for part in torch.randn(7, 4, 12):
            hidden = cell(part, hidden)
        return head(hidden).square().mean()

    return _training(model, loss)


def encoder() -> Step:
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return _training(model, lambda: model(torch.randn(3, 11, 32)).square().mean())


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.projections = nn.ModuleList(nn.Linear(32, 96, bias=False) for _ in range(2))
        self.outs = nn.ModuleList(nn.Linear(32, 32, bias=False) for _ in range(2))
        self.norm = nn.LayerNorm(32)
        self.head = nn.Linear(32, 50, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for projection, out in zip(self.projections, self.outs, strict=True):
            parts = projection(self.norm(x)).chunk(3, -1)
            query, key, value = (part.unflatten(-1, (4, 8)).transpose(1, 2) for part in parts)
            attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + out(attended.transpose(1, 2).flatten(2))
        return self.head(x)


def _language_loss(model: nn.Module) -> torch.Tensor:
    tokens = torch.randint(50, (3, 13))
    return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def decoder() -> Step:
    model = Decoder()
    return _training(model, lambda: _language_loss(model))


def cross_attention() -> Step:
    model = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)
    return _training(model, lambda: model(torch.randn(2, 6, 16), torch.randn(2, 5, 16)).square().mean())


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, 8), nn.SiLU(), nn.Linear(8, 8))
        self.down, self.inner = nn.Conv2d(3, 8, 3, stride=2, padding=1), Residual(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.up = nn.ConvTranspose2d(8, 3, 2, stride=2)
        self.out = nn.Conv2d(6, 3, 1)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        inner = self.inner(self.down(x) + self.time(time)[:, :, None, None])
        flat = inner.flatten(2).transpose(1, 2)
        flat = flat + self.attention(flat, flat, flat, need_weights=False)[0]
        return self.out(torch.cat([self.up(flat.transpose(1, 2).unflatten(2, inner.shape[2:])), x], 1))


def diffusion() -> Step:
    model = UNet()

    def loss() -> torch.Tensor:
        clean, time = torch.randn(2, 3, 16, 16), torch.rand(2, 1)
        noise = torch.randn_like(clean)
        share = time[:, :, None, None]
        return F.mse_loss(model((1 - share) * clean + share * noise, time), noise - clean)

    return _training(model, loss)


def graph_network() -> Step:
    layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))
    edges = torch.randint(30, (2, 90))

    def loss() -> torch.Tensor:
        nodes = torch.randn(30, 16)
        for layer in layers:
            messages = layer(nodes)[edges[0]]
            gathered = torch.zeros_like(nodes).index_add(0, edges[1], messages)
            nodes = F.relu(nodes.scatter_reduce(0, edges[1][:, None].expand(-1, 16), messages, "amax") + gathered)
        return nodes.sum()

    return _training(layers, loss)


class _Saved(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, scale: float) -> torch.Tensor:
        result = torch.exp(x * scale)
        ctx.save_for_backward(result)
        ctx.scale = scale
        return result

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        (result,) = ctx.saved_tensors
        return gradient * result * ctx.scale, None


class _OnContext(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.mask = {"positive": x > 0}
        return x.clamp_min(0)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * ctx.mask["positive"]


def custom_function() -> Step:
    model = nn.Linear(16, 16)
    return _training(model, lambda: _Saved.apply(model(torch.randn(8, 16)), 0.5).sum())


def function_with_context() -> Step:
    model = nn.Linear(16, 16)
    return _training(model, lambda: _OnContext.apply(model(torch.randn(8, 16))).sum())


def _checkpointed(use_reentrant: bool) -> Step:
    first, last = nn.Linear(16, 32), nn.Linear(32, 4)
    blocks = nn.ModuleList(nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 32)) for _ in range(3))

    def loss() -> torch.Tensor:
        x = first(torch.randn(8, 16))
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=use_reentrant)
        return last(x).square().mean()

    return _training(nn.ModuleList([first, last, blocks]), loss)


def checkpointing() -> Step:
    return _checkpointed(use_reentrant=False)


def reentrant_checkpointing() -> Step:
    return _checkpointed(use_reentrant=True)


def autocast() -> Step:
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 10))

    def loss() -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return F.cross_entropy(model(torch.randn(16, 32)).float(), torch.randint(10, (16,)))

    return _training(model, loss)


def compiled() -> Step:
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    run = torch.compile(model, backend="aot_eager")
    return _training(model, lambda: F.cross_entropy(run(torch.randn(16, 32)), torch.randint(10, (16,))))


def accumulation() -> Step:
    model = nn.Sequential(nn.Linear(32, 64), nn.Sigmoid(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(at_end_of_forward: Callable[[], None]) -> None:
        for size in (4, 4, 8):
            loss = model(torch.randn(size, 32)).square().mean() / 3
            at_end_of_forward()
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def adversarial() -> Step:
    maker, judge = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 16)), nn.Linear(16, 1)
    optimizers = [torch.optim.Adam(model.parameters()) for model in (judge, maker)]

    def step(at_end_of_forward: Callable[[], None]) -> None:
        made = maker(torch.randn(8, 4))
        for optimizer, images, sign in ((optimizers[0], made.detach(), 1.0), (optimizers[1], made, -1.0)):
            loss = F.softplus(sign * judge(images)).mean()
            at_end_of_forward()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return step


def mixture_of_experts() -> Step:
    gate, experts = nn.Linear(16, 3), nn.ModuleList(nn.Linear(16, 16) for _ in range(3))

    def loss() -> torch.Tensor:
        x = torch.randn(24, 16)
        weights, chosen = gate(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(experts):
            rows = (chosen == number).nonzero()[:, 0]
            out = out.index_add(0, rows, expert(x[rows]) * weights[rows, None])
        return out.square().mean()

    return _training(nn.ModuleList([gate, experts]), loss)


def variational() -> Step:
    encode, decode = nn.Linear(20, 8), nn.Sequential(nn.Linear(4, 20), nn.Softplus())

    def loss() -> torch.Tensor:
        x = torch.rand(8, 20)
        mean, spread = encode(x).chunk(2, -1)
        made = decode(mean + torch.randn_like(mean) * (0.5 * spread).exp())
        return F.mse_loss(made, x) - 0.5 * (1 + spread - mean.square() - spread.exp()).mean()

    return _training(nn.ModuleList([encode, decode]), loss)


def weight_norm() -> Step:
    model = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(16, 16)), nn.ELU(), nn.Linear(16, 2))
    return _training(model, lambda: model(torch.randn(8, 16)).square().mean())


def bag_of_embeddings() -> Step:
    model = nn.Sequential(nn.EmbeddingBag(40, 8, mode="mean"), nn.Linear(8, 2))
    return _training(model, lambda: F.cross_entropy(model(torch.randint(40, (6, 5))), torch.randint(2, (6,))))


def second_order() -> Step:
    judge = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

    def loss() -> torch.Tensor:
        x = torch.randn(6, 8, requires_grad=True)
        (gradient,) = torch.autograd.grad(judge(x).sum(), x, create_graph=True)
        return (gradient.norm(dim=1) - 1).square().mean()

    return _training(judge, loss)


def offloaded() -> Step:
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def loss() -> torch.Tensor:
        with torch.autograd.graph.save_on_cpu():
            return model(torch.randn(8, 16)).square().mean()

    return _training(model, loss)


MODELS: dict[str, Callable[[], Step]] = {
    made.__name__: made
    for made in (
        mlp, mlp_with_dropout, in_place, cnn, resnet, lstm, gru_by_cells, encoder, decoder, cross_attention, diffusion,
        graph_network, custom_function, function_with_context, checkpointing, reentrant_checkpointing, autocast,
        compiled, accumulation, adversarial, mixture_of_experts, variational, weight_norm, bag_of_embeddings,
        second_order, offloaded,
    )
}  # fmt: skip
