import torch
from novelty import DriftModel, Reference
from online import watch
from sensors import Bench


def main(reference=Reference, ticks=48):
    torch.manual_seed(71)
    bench = Bench()
    model = DriftModel(len(bench.clock), reference)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-4)
    alarms = []
    errors = list(watch(bench, model, optimizer, ticks, alarms.append))
    for alarm in alarms:
        print(f"tick {alarm.tick}: machine {alarm.machine} strays by {alarm.score:.3f}")
    print(f"error {sum(errors[:8]) / 8:.4f} -> {sum(errors[-8:]) / 8:.4f}")


if __name__ == "__main__":
    main()
