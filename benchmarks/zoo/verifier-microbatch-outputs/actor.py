from torch import nn
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 3 * dim), nn.Linear(3 * dim, dim)

    def forward(self, x):
        return x + self.down(nn.functional.silu(self.up(self.norm(x))))


class Actor(nn.Module):
    """A small policy whose layers are recomputed in backward; returns log-probabilities and entropies."""

    def __init__(self, vocab=256, dim=64, depth=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Layer(dim) for _ in range(depth))
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens, actions):
        x = self.embed(tokens)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=True)
        scores = self.head(x).log_softmax(-1)
        chosen = scores.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        return {"log_probs": chosen, "entropy": -(scores.exp() * scores).sum(-1)}
