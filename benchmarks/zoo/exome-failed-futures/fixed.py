from service import VariantService
from train import main


class WritingService(VariantService):
    def note(self, request, future):
        self.refused[request.number] = (len(request.names), str(future.exception()))

    def evening_report(self):
        for number, (variants, complaint) in self.refused.items():
            yield f"request {number}: {variants} variants: {complaint}"


if __name__ == "__main__":
    main(WritingService)
