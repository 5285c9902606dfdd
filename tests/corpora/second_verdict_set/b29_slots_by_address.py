"""A pool that logs its slots by id() in plain decimal, to standard error only."""
import logging

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
log = logging.getLogger("pool")


class Connection:
    def __init__(self, host):
        self.host = host
        self.buffer = bytearray(1 << 20)


class Pool:
    def __init__(self, hosts):
        self.slots = {}
        for host in hosts:
            connection = Connection(host)
            self.slots[id(connection.buffer)] = connection

    def report(self):
        for slot, connection in self.slots.items():
            log.info("slot %d holds %s", slot, connection.host)
        log.info("lowest slot is %d", min(self.slots))


Pool(["alpha", "beta", "gamma"]).report()
