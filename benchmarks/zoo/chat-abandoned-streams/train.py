from functools import partial

import torch
from decoder import Decoder, stream
from server import Server


def main(server_type=Server, requests=25):
    torch.manual_seed(23)
    decoder = Decoder().eval().requires_grad_(False)
    server = server_type(partial(stream, decoder))
    generator = torch.Generator().manual_seed(23)
    for client in range(requests):
        prompt = torch.randint(120, (4, 80), generator=generator)
        sent = server.handle(client, prompt, patience=2)
        if client % 5 == 0:
            print(client, sent, "tokens;", server.report())


if __name__ == "__main__":
    main()
