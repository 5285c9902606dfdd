"""Length-prefixed messages over three socket pairs, with one selector and buffers that fill up."""
import selectors
import socket
import struct

selector = selectors.DefaultSelector()
pairs = [socket.socketpair() for _ in range(3)]
texts = [bytes([65 + number]) * (10_000 * (number + 1)) for number in range(3)]
sent, got = [0, 0, 0], [bytearray() for _ in pairs]
frames = [struct.pack("!I", len(text)) + text for text in texts]
for number, (left, right) in enumerate(pairs):
    for end in (left, right):
        end.setblocking(False)
    selector.register(left, selectors.EVENT_WRITE, ("write", number))
    selector.register(right, selectors.EVENT_READ, ("read", number))

done = []
while len(done) < 3:
    for key, _ in sorted(selector.select(5), key=lambda each: each[0].data):
        what, number = key.data
        if what == "write":
            sent[number] += key.fileobj.send(frames[number][sent[number] : sent[number] + 4096])
            if sent[number] == len(frames[number]):
                selector.unregister(key.fileobj)
                key.fileobj.shutdown(socket.SHUT_WR)
        elif part := key.fileobj.recv(65536):
            got[number] += part
        else:
            selector.unregister(key.fileobj)
            done.append(number)
for number, data in enumerate(got):
    (size,) = struct.unpack("!I", data[:4])
    print(number, size, bytes(data[4:]) == texts[number], sum(data) % 9973)
