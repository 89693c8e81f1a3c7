import torch


class SelectiveScan(torch.autograd.Function):
    """h[t] = exp(delta[t] A) h[t-1] + delta[t] u[t] B[t],  y[t] = h[t] C[t]"""

    @staticmethod
    def forward(ctx, u, delta, A, B, C):
        decay = torch.exp(delta.unsqueeze(-1) * A)
        states = (delta * u).unsqueeze(-1) * B.unsqueeze(2)
        for t in range(1, u.shape[1]):
            states[:, t].addcmul_(decay[:, t], states[:, t - 1])
        ctx.decay, ctx.states = decay, states
        ctx.save_for_backward(u, delta, A, B, C)
        return torch.einsum("btdn,btn->btd", states, C)

    @staticmethod
    def backward(ctx, grad):
        u, delta, A, B, C = ctx.saved_tensors
        return scan_gradients(grad, u, delta, A, B, C, ctx.decay, ctx.states)


def scan_gradients(grad, u, delta, A, B, C, decay, states):
    inner = grad.unsqueeze(-1) * C.unsqueeze(2)
    for t in range(u.shape[1] - 2, -1, -1):
        inner[:, t].addcmul_(decay[:, t + 1], inner[:, t + 1])
    before = torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1)
    exponent = inner * before * decay
    driven = torch.einsum("btdn,btn->btd", inner, B)
    return (
        driven * delta,
        driven * u + torch.einsum("btdn,dn->btd", exponent, A),
        torch.einsum("btdn,btd->dn", exponent, delta),
        torch.einsum("btdn,btd->btn", inner, delta * u),
        torch.einsum("btdn,btd->btn", states, grad),
    )
