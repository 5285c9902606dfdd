"""Uses a helper that exists as bytecode alone; the bytecode is exchanged in between."""
import rates

with open("observed.txt", "w") as file:
    print(rates.RATE, file=file)
print("rate", rates.RATE)
