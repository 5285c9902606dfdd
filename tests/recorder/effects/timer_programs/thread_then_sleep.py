import threading
import time

out = []


def work():
    for k in range(5):
        time.sleep(0.02)
        out.append(k)


t = threading.Thread(target=work)
t.start()
time.sleep(0.6)
print(len(out))
t.join()
print(out)
