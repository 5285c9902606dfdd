"""Clears a set of objects, each of which prints its number when it is deleted; the order follows their addresses."""
class Part:
    def __init__(self, number):
        self.number = number

    def __del__(self):
        print("deleted", self.number)


parts = {Part(number) for number in range(3000)}
parts.clear()
print("cleared", len(parts))
