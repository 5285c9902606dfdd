"""A feature store that memoises on disk: the key of an entry is the digest of its pickled arguments."""
import hashlib
import os
import pickle
import shutil
import tempfile

RAW = {f"u{n:02d}": [(n * k) % 17 for k in range(1, 9)] for n in range(18)}


class DiskMemo:
    """At most `capacity` entries; which are dropped is decided by their names."""

    def __init__(self, folder, capacity):
        self.folder = folder
        self.capacity = capacity
        self.hits = self.misses = 0

    def key(self, name, arguments):
        blob = pickle.dumps((name, arguments), protocol=4)
        return hashlib.sha256(blob).hexdigest()[:16]

    def __call__(self, function):
        def memoised(*arguments):
            path = os.path.join(self.folder, self.key(function.__name__, arguments))
            if os.path.exists(path):
                self.hits += 1
                with open(path, "rb") as stored:
                    return pickle.load(stored)
            self.misses += 1
            result = function(*arguments)
            with open(path, "wb") as out:
                pickle.dump(result, out)
            self.shrink()
            return result

        return memoised

    def shrink(self):
        names = sorted(os.listdir(self.folder))
        for name in names[self.capacity :]:
            os.remove(os.path.join(self.folder, name))


def cohort(number):
    """Users of one cohort, as the membership service gives them."""
    return frozenset(user for user in RAW if int(user[1:]) % 6 in (number % 6, (number + 1) % 6))


def main():
    folder = tempfile.mkdtemp(prefix="memo")
    memo = DiskMemo(folder, capacity=4)

    @memo
    def total(users):
        return sum(sum(RAW[user]) for user in users)

    @memo
    def peak(users, slot):
        return max(RAW[user][slot] for user in users)

    try:
        report = []
        for day in range(30):
            users = cohort(day * 5 % 7)
            report.append((day, total(users), peak(users, day % 2)))
        print("days", len(report), "sum", sum(row[1] for row in report), "peaks", sum(row[2] for row in report))
        print("cache:", memo.hits, "hits,", memo.misses, "misses")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
