"""A server that captures a CUDA graph for each length of input and keeps them all."""

import torch
from torch import nn


class Server:
    def __init__(self) -> None:
        self.model = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 256)).cuda().eval()
        self.graphs = {}

    @torch.no_grad()
    def answer(self, request: torch.Tensor) -> torch.Tensor:
        length = len(request)
        if length not in self.graphs:
            static = request.clone()
            self.model(static)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                output = self.model(static)
            self.graphs[length] = graph, static, output
        graph, static, output = self.graphs[length]
        static.copy_(request)
        graph.replay()
        return output.clone()


server = Server()
for number in range(60):
    answer = server.answer(torch.randn(256 + 16 * number, 256, device="cuda"))
print(f"{answer.mean().item():.4f}")
