from engine import ChatEngine
from train import main


class ForgettingEngine(ChatEngine):
    def close(self, ident):
        length = super().close(ident)
        del self.sessions[ident]
        return length


if __name__ == "__main__":
    main(ForgettingEngine)
