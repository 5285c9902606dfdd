"""A forked process serves a stack over a Unix socket, and its parent is the client."""
import json
import os
import socket
import tempfile

folder = tempfile.mkdtemp()
path = os.path.join(folder, "stack.sock")
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
child = os.fork()
if child == 0:
    stack = []
    connection, _ = listener.accept()
    with connection, connection.makefile("rw") as stream:
        for line in stream:
            order = json.loads(line)
            if "push" in order:
                stack.append(order["push"])
                answer = len(stack)
            else:
                answer = stack.pop() if stack else None
            stream.write(json.dumps(answer) + "\n")
            stream.flush()
    os._exit(len(stack))
listener.close()
with socket.socket(socket.AF_UNIX) as client:
    client.connect(path)
    with client.makefile("rw") as stream:
        for order in [{"push": n * n} for n in range(5)] + [{}, {}, {}]:
            stream.write(json.dumps(order) + "\n")
            stream.flush()
            print(order, stream.readline().strip())
_, status = os.waitpid(child, 0)
print("left on the stack:", os.waitstatus_to_exitcode(status))
os.remove(path)
os.rmdir(folder)
