import torch
from incidents import IncidentHandler, install
from service import Service
from tagger import PageTagger, scanned


def main(handler_class=IncidentHandler, requests=44):
    torch.manual_seed(70)
    incidents = install(handler_class())
    service = Service(PageTagger().eval(), threshold=0.3)
    answered = 0
    for request, pages in enumerate(scanned(requests)):
        answered += "kinds" in service.handle(request, pages)
        if request % 11 == 10:
            print(f"{answered} of {request + 1} answered;", "; ".join(incidents.page()))


if __name__ == "__main__":
    main()
