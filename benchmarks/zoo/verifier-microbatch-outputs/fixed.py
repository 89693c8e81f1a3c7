from engine import Engine
from train import main


class DetachingEngine(Engine):
    def forward_backward(self, micro):
        result = super().forward_backward(micro)
        result["model_output"] = {"entropy": result["model_output"]["entropy"].detach()}
        return result


if __name__ == "__main__":
    main(DetachingEngine)
