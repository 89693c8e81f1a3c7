"""Takes noise from pictures: a UNet with attention to text, whose encoder is frozen."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
TEXT = 256


class TextEncoder(nn.Module):
    def __init__(self, words=8000, layers=4):
        super().__init__()
        self.words = nn.Embedding(words, TEXT)
        layer = nn.TransformerEncoderLayer(TEXT, 4, 4 * TEXT, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, tokens):
        return self.layers(self.words(tokens))


class Block(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(8, channels), nn.GroupNorm(8, out)
        self.conv1 = nn.Conv2d(channels, out, 3, padding=1)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1)
        self.time = nn.Linear(TEXT, out)
        self.skip = nn.Conv2d(channels, out, 1) if channels != out else nn.Identity()
        self.norm3 = nn.LayerNorm(out)
        self.attention = nn.MultiheadAttention(out, 4, kdim=TEXT, vdim=TEXT, batch_first=True)

    def forward(self, x, time, text):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        y = self.conv2(F.dropout(F.silu(self.norm2(y)), 0.1, self.training)) + self.skip(x)
        rows = y.flatten(2).transpose(1, 2)
        seen, _ = self.attention(self.norm3(rows), text, text, need_weights=False)
        return (rows + seen).transpose(1, 2).reshape(y.shape)


class UNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, TEXT), nn.SiLU(), nn.Linear(TEXT, TEXT))
        self.enter = nn.Conv2d(4, width, 3, padding=1)
        self.down1, self.down2 = Block(width, width), Block(width, 2 * width)
        self.middle = Block(2 * width, 2 * width)
        self.up2, self.up1 = Block(4 * width, width), Block(2 * width, width)
        self.leave = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x, t, text):
        time = self.time(t[:, None].float() / 1000)
        x1 = self.down1(self.enter(x), time, text)
        x2 = self.down2(F.avg_pool2d(x1, 2), time, text)
        y = self.middle(F.avg_pool2d(x2, 2), time, text)
        y = self.up2(torch.cat([F.interpolate(y, scale_factor=2), x2], 1), time, text)
        y = self.up1(torch.cat([F.interpolate(y, scale_factor=2), x1], 1), time, text)
        return self.leave(y)


encoder = TextEncoder().to(device).requires_grad_(False).eval()
unet = UNet().to(device)
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-4)
kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000), 0).to(device)
for step in range(20):
    latents, tokens = torch.randn(16, 4, 32, 32).to(device), torch.randint(8000, (16, 77)).to(device)
    noise = torch.randn_like(latents)
    t = torch.randint(0, 1000, (len(latents),), device=device)
    share = kept[t][:, None, None, None]
    noisy = share.sqrt() * latents + (1 - share).sqrt() * noise
    with torch.no_grad():
        text = encoder(tokens)
    loss = F.mse_loss(unet(noisy, t, text), noise)
    loss.backward()
    nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
