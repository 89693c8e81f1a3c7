from attribution import ReferenceAttribution
from train import main


class CleanAttribution(ReferenceAttribution):
    def __exit__(self, *failure):
        super().__exit__(*failure)
        for layer in self.model.modules():
            layer.__dict__.pop("seen_input", None)
            layer.__dict__.pop("seen_output", None)


if __name__ == "__main__":
    main(CleanAttribution)
