import torch
from generate import Decoder, generate


def serve(requests=12):
    torch.manual_seed(0)
    model = Decoder().eval()
    for number in range(requests):
        prompt = torch.randint(400, (2, 8 + number % 5))
        answer = generate(model, prompt)
        print(number, answer.shape[1])


if __name__ == "__main__":
    serve()
