"""Words go to a dictionary as datagrams and come back translated; one is never answered."""
import socket
import threading

WORDS = {"boat": "Boot", "tide": "Flut", "wind": "Wind"}
ready = threading.Event()
address = []


def dictionary():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        address.append(server.getsockname())
        ready.set()
        while True:
            data, sender = server.recvfrom(1000)
            word = data.decode()
            if word == "stop":
                return
            if word in WORDS:
                server.sendto(WORDS[word].encode(), sender)


thread = threading.Thread(target=dictionary)
thread.start()
ready.wait()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.settimeout(0.2)
    for word in ("boat", "tide", "gravel", "wind"):
        client.sendto(word.encode(), address[0])
        try:
            print(word, client.recvfrom(1000)[0].decode())
        except TimeoutError:
            print(word, "has no answer")
    client.sendto(b"stop", address[0])
thread.join()
