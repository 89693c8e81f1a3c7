import torch
from adapter import Adapter, Backbone, Domains
from prototypes import PrototypeBank


def main(bank_class=PrototypeBank):
    torch.manual_seed(20)
    adapter = Adapter(Backbone(), bank_class.empty(10, 64))
    domains = Domains()
    for step in range(40):
        loss = adapter.step(domains)
        if step % 8 == 7:
            print(f"step {step} loss {loss:.4f} spread {adapter.bank.centres.norm(dim=1).mean().item():.3f}")


if __name__ == "__main__":
    main()
