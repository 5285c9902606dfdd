"""Spawned workers import a module that the parent never imports; it is edited later."""
import multiprocessing


def grade(points):
    import scale  # in the worker alone

    return scale.grade(points)


def main():
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        print(pool.map(grade, [12, 55, 71, 90]))


if __name__ == "__main__":
    main()
