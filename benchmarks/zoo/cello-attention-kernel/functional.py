# Attention with its weights exposed, for the bowing visualiser.
import torch


def stash(ctx, **values):
    for name, value in values.items():
        setattr(ctx, name, value)


class BowedAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, bias):
        scale = query.shape[-1] ** -0.5
        scores = torch.baddbmm(bias, query, key.transpose(1, 2), alpha=scale)
        weights = scores.softmax(-1)
        stash(ctx, query=query, key=key, value=value, weights=weights, scale=scale)
        return weights @ value, weights

    @staticmethod
    def backward(ctx, grad_mixed, grad_weights):
        grad_value = ctx.weights.transpose(1, 2) @ grad_mixed
        grad = grad_mixed @ ctx.value.transpose(1, 2) + grad_weights
        grad_scores = ctx.weights * (grad - (grad * ctx.weights).sum(-1, keepdim=True))
        grad_query = grad_scores @ ctx.key * ctx.scale
        grad_key = grad_scores.transpose(1, 2) @ ctx.query * ctx.scale
        return grad_query, grad_key, grad_value, None


bowed_attention = BowedAttention.apply
