import threading

out = []
ts = [threading.Timer(0.2 * (3 - i), out.append, (i,)) for i in range(3)]
[t.start() for t in ts]
[t.join() for t in ts]
print(out)
