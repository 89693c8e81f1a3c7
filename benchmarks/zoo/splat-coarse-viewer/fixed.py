from train import main
from viewer import View, Viewer


class UploadedView(View):
    def __init__(self, name, splats):
        super().__init__(name, splats)
        self.splats = None


class UploadingViewer(Viewer):
    view_type = UploadedView


if __name__ == "__main__":
    main(UploadingViewer())
