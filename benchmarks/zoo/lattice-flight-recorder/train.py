import torch
from chain import Ensemble, action
from flow import LatticeFlow
from recorder import FlightRecorder, install, log


def main(recorder_class=FlightRecorder, steps=48, batch=256):
    torch.manual_seed(100)
    install(recorder_class)
    flow, ensemble = LatticeFlow(), Ensemble()
    optimizer = torch.optim.Adam(flow.parameters(), lr=2e-3)
    for step in range(steps):
        fields, log_density = flow(torch.randn(batch, 12, 12))
        loss = (log_density + action(fields)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ensemble.renew(fields.detach(), log_density.detach())
        log.info("step %d free energy %.3f", step, loss.item())
        if step % 12 == 11:
            print(f"{step + 1:2d} free energy {loss.item():.3f} magnetisation {ensemble.magnetisation():.3f}")
    print("renewed", ensemble.renewed, "refused", ensemble.refused)


if __name__ == "__main__":
    main()
