import asyncio

import torch
from model import Translator
from quality import check
from service import TranslationService


def test_set(number=48, batch=8, length=24, vocab=400):
    generator = torch.Generator().manual_seed(31)
    for _ in range(number):
        source = torch.randint(vocab, (batch, length), generator=generator)
        yield source, (source + 7) % vocab


def main(make_service=TranslationService):
    torch.manual_seed(30)

    async def run():
        return await check(make_service(Translator()), test_set())

    report = asyncio.run(run())
    print(len(report.replies), "requests", report.summary())


if __name__ == "__main__":
    main()
