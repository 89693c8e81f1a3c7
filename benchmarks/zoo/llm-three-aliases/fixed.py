import torch
import torch.nn.functional as F
from finetune import Arguments, collate
from modeling import TinyCausalLM


def train(model, args):
    generator = torch.Generator().manual_seed(11)
    vocab_size = model.lm_head.out_features
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    total = 0.0
    for step in range(1, args.max_train_steps + 1):
        batch = collate(args, vocab_size, generator)
        labels = batch.pop("labels")
        outputs = model(**batch)
        logits = outputs.logits
        shift_logits = logits[..., :-1, :].contiguous()
        del outputs, logits
        shift_labels = labels[..., 1:].contiguous()
        loss = F.cross_entropy(shift_logits.view(-1, vocab_size), shift_labels.view(-1), reduction="sum")
        del shift_logits
        loss = loss / shift_labels.numel()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        total += loss.item()
        del loss
        if step % args.logging_steps == 0:
            print(f"step {step} loss {total / args.logging_steps:.3f}")
            total = 0.0


if __name__ == "__main__":
    torch.manual_seed(42)
    train(TinyCausalLM(), Arguments())
