"""Workers of a pool read a table that the main program never opens; the table is edited later."""
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

table = {}


def prepare():
    with open("grades.txt") as lines:
        for line in lines:
            limit, grade = line.split()
            table[int(limit)] = grade


def grade(points):
    return next(table[limit] for limit in sorted(table, reverse=True) if points >= limit)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, mp_context=context, initializer=prepare) as pool:
        print(list(pool.map(grade, [12, 55, 78, 93])))
