import torch
from loop import feature_match
from nets import critic, generator
from train import images


def adversarial_epoch(generator_net, critic, opt_g, opt_d, reals):
    for step, real in enumerate(reals):
        noise = torch.randn(len(real), 32)
        fake = generator_net(noise)
        d_loss = critic(fake.detach()).mean() - critic(real).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        with torch.no_grad():
            penalty = feature_match(fake, real)
        g_loss = -critic(fake).mean()
        del fake
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        yield {"step": step, "d": d_loss.item(), "g": g_loss.item(), "match": penalty.item()}


if __name__ == "__main__":
    torch.manual_seed(4)
    g, d = generator(), critic()
    opt_g = torch.optim.Adam(g.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(d.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for record in adversarial_epoch(g, d, opt_g, opt_d, images(40)):
        if record["step"] % 10 == 0:
            print(record)
