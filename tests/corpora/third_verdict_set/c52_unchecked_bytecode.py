"""A module's bytecode is the kind that is used without a look at its source; only the bytecode is changed later."""
import lathe

for diameter in (10, 25, 40):
    print(diameter, lathe.turns(diameter))
