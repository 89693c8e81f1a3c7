print("the program's own resource")
