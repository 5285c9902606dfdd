"""Slots, caches, weak references, descriptors, generators and nested plain objects."""
import copy
import functools
import gc
import weakref


class Tree:
    __slots__ = ("value", "children", "__weakref__")

    def __init__(self, value, *children):
        self.value, self.children = value, list(children)

    def walk(self):
        yield self.value
        for child in self.children:
            yield from child.walk()


class Box:
    def __init__(self, **fields):
        self.__dict__.update(fields)

    @functools.cached_property
    def area(self):
        print("computing area")
        return self.w * self.h


@functools.lru_cache(maxsize=8)
def steps(n):
    return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)


tree = Tree(1, Tree(2, Tree(4)), Tree(3))
twin = copy.deepcopy(tree)
twin.children[0].value = 20
print(list(tree.walk()), list(twin.walk()))

gone = []
weakref.finalize(tree, gone.append, "tree")
probe = weakref.ref(tree, lambda _: gone.append("probe"))
tree.children[0].children[0].children.append(tree)
del tree
print("before", gone, probe() is None)
gc.collect()
print("after", sorted(gone), probe() is None)

box = Box(w=3, h=4, inner=Box(w=1, h=2, label=Box(text="hi")))
print(box.area, box.area, box.inner.area, box.inner.label.text)
print([steps(n) for n in range(1, 12)], steps.cache_info())
cache = weakref.WeakValueDictionary(a=twin, b=box)
del box
print(sorted(cache))
