from pathlib import Path

from session import Session


def main(session_type=Session):
    session = session_type()
    names = session.run_file(Path(__file__).with_name("analysis.py"))
    for number, complaint in session.failed:
        print(f"cell {number}: {complaint}")
    print("cells done", len(names["fitter"].curve))


if __name__ == "__main__":
    main()
