from engine import Engine
from train import main


class ForgetfulEngine(Engine):
    def run(self, loader, max_epochs):
        for self.state.epoch in range(1, max_epochs + 1):
            for batch in loader():
                self.state.iteration += 1
                self.state.output = self.process(self, batch)
                self.fire("iteration", self.state.iteration)
                self.state.output = None
            self.fire("epoch", self.state.epoch)
        return self.state


if __name__ == "__main__":
    main(ForgetfulEngine)
