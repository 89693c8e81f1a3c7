import torch
from reading import Reader, notes
from school import School


def main():
    torch.manual_seed(47)
    school = School(Reader(320, 4), Reader(40, 1), *notes())
    print("teacher", f"{school.lesson(school.staff['teacher'], school.topics, 12, 2e-3):.4f}")
    school.mark()
    print("dismissed", school.dismiss(), "weights, staff left:", len(school.staff))
    print("student", f"{school.lesson(school.student, school.marks, 44, 5e-3):.4f}")
    with torch.no_grad():
        right = (school.student(school.notes).argmax(1) == school.topics).float().mean().item()
    print("right", f"{right:.3f}")


if __name__ == "__main__":
    main()
