"""Weak references, cycles, a resurrected object and finalisers that run at the end, in a known order."""
import gc
import weakref


class Node:
    kept = []

    def __init__(self, name):
        self.name, self.other = name, None

    def __del__(self):
        print("gone:", self.name)
        if self.name == "phoenix" and not Node.kept:
            Node.kept.append(self)


gc.disable()
a, b = Node("a"), Node("b")
a.other, b.other = b, a
watch = weakref.ref(a, lambda ref: print("reference cleared"))
cache = weakref.WeakValueDictionary(a=a, b=b)
del a, b
print(sorted(cache), watch() is None)
gc.collect()
print(sorted(cache), watch() is None)
bird = Node("phoenix")
del bird
print(Node.kept[0].name)
Node.kept.clear()
for number in range(3):
    weakref.finalize(Node, print, "finaliser", number)
proxy_of = Node("proxied")
proxy = weakref.proxy(proxy_of)
print(proxy.name)
del proxy_of
try:
    proxy.name
except ReferenceError as error:
    print(error)
keys = weakref.WeakKeyDictionary()
strong = [Node(f"key {n}") for n in range(3)]
keys.update((each, n * n) for n, each in enumerate(strong))
del strong[1], each
print(sorted(keys.values()))
strong.clear()
