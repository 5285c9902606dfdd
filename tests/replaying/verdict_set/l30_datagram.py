"""Sends a datagram to a counter outside and prints its answer, which is another number every time."""
import socket

with open("port.txt") as file:
    port = int(file.read())
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.settimeout(2)
    client.sendto(b"next", ("127.0.0.1", port))
    try:
        answer, _ = client.recvfrom(100)
    except OSError as error:
        answer = type(error).__name__.encode()
with open("observed.txt", "wb") as file:
    file.write(answer)
print("answer", answer.decode())
