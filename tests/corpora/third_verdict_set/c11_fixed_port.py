"""An XML-RPC service on a fixed port and its client in one program; somebody else holds that port later."""
import threading
import xmlrpc.client
from xmlrpc.server import SimpleXMLRPCServer

PORT = 47211
totals = {}


def add(name, amount):
    totals[name] = totals.get(name, 0) + amount
    return totals[name]


def fail():
    raise ValueError("not today")


SimpleXMLRPCServer.allow_reuse_address = True
server = SimpleXMLRPCServer(("127.0.0.1", PORT), logRequests=False, allow_none=True)
server.register_function(add)
server.register_function(fail)
server.register_introspection_functions()
thread = threading.Thread(target=server.serve_forever, args=(0.05,))
thread.start()
with xmlrpc.client.ServerProxy(f"http://127.0.0.1:{PORT}", allow_none=True) as proxy:
    print(proxy.system.listMethods())
    print([proxy.add("eggs", n) for n in (6, 12, 3)], proxy.add("milk", 1.5))
    try:
        proxy.fail()
    except xmlrpc.client.Fault as fault:
        print(fault.faultCode, fault.faultString)
server.shutdown()
thread.join()
server.server_close()
