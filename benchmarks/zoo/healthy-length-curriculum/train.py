import torch
from curriculum import LengthCurriculum, padded_batch
from torch import nn
from torch.nn.functional import cross_entropy


class ProteinModel(nn.Module):
    def __init__(self, vocab=26, dim=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        layer = nn.TransformerEncoderLayer(dim, 4, 128, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.size(1))
        return self.head(self.body(self.embed(tokens), mask=mask, is_causal=True))


def train_step(model, optimizer, tokens):
    logits = model(tokens[:, :-1])
    loss = cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
    del logits
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(96)
    generator = torch.Generator().manual_seed(97)
    curriculum = LengthCurriculum()
    model = ProteinModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(50):
        tokens = padded_batch(curriculum.at(step), 6, 26, generator)
        loss = train_step(model, optimizer, tokens)
        if step % 10 == 0:
            print(step, curriculum.at(step), f"{loss:.3f}")


if __name__ == "__main__":
    main()
