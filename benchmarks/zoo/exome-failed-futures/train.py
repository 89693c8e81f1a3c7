import torch
from service import VariantService
from windows import WindowNet, traffic


def main(service_type=VariantService):
    torch.manual_seed(6)
    service = service_type(WindowNet())
    for request in traffic(60):
        service.handle(request)
    service.close()
    print("served", len(service.served), "refused", len(service.refused))
    for line in list(service.evening_report())[:4]:
        print(line)


if __name__ == "__main__":
    main()
