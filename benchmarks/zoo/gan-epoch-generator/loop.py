import torch


def adversarial_epoch(generator_net, critic, opt_g, opt_d, reals):
    """Yields one record per batch; callers decide when to stop or print."""
    for step, real in enumerate(reals):
        noise = torch.randn(len(real), 32)
        fake = generator_net(noise)
        d_loss = critic(fake.detach()).mean() - critic(real).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        penalty = feature_match(fake, real)
        g_loss = -critic(fake).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        yield {"step": step, "d": d_loss.item(), "g": g_loss.item(), "match": penalty.item()}


def feature_match(fake, real):
    """Only watched, not optimised."""
    fake, real = torch.nn.functional.leaky_relu(fake, 0.1), torch.nn.functional.leaky_relu(real, 0.1)
    return torch.cdist(fake, real).tanh().mean()
