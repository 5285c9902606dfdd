"""The blocking client: a thread reads until the end, while the main thread writes."""

import sys
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

heard = []
with connect(f"ws://127.0.0.1:{sys.argv[1]}/echo") as socket:

    def read():
        try:
            for message in socket:
                heard.append(message)
                if len(heard) == 8:
                    return
        except ConnectionClosed:
            heard.append("closed")

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(8):
        socket.send(f"number {number}")
    reader.join()
for message in heard:
    print(message)
