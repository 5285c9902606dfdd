"""Reads a history file by the line-editing library, in C, and prints its last entry; the file is edited in between."""
import readline

readline.read_history_file("history.txt")
last = readline.get_history_item(readline.get_current_history_length())
with open("observed.txt", "w") as file:
    print(last, file=file)
print("last entry", last)
