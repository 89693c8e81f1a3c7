import torch
from service import Keyword, make_handler


def requests(count):
    for number in range(count):
        yield {"id": number, "audio": torch.randn(300, 40)}


def serve(handler, count=60):
    labels = [handler(request)["label"] for request in requests(count)]
    print("most frequent label", max(set(labels), key=labels.count))


if __name__ == "__main__":
    torch.manual_seed(0)
    serve(make_handler(Keyword().eval()))
