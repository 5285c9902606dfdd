"""Logging to stderr and to rotating files, with times, process ids, and an object's plain repr."""
import logging
import logging.handlers
import threading
import warnings


class Session:
    def __init__(self, user):
        self.user = user


root = logging.getLogger()
root.setLevel(logging.DEBUG)
console = logging.StreamHandler()
console.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d %(levelname)-7s %(name)s: %(message)s"))
root.addHandler(console)
files = logging.handlers.RotatingFileHandler("app.log", maxBytes=400, backupCount=2)
files.setFormatter(logging.Formatter("%(asctime)s %(process)d %(threadName)s %(relativeCreated)d %(message)s"))
root.addHandler(files)
logging.captureWarnings(True)

log = logging.getLogger("shop.checkout")
session = Session("ada")
console.addFilter(lambda record: "quiet" not in record.getMessage())
console.handle(log.makeRecord(log.name, logging.INFO, __file__, 20, "opened %r", (session,), None))
for basket in range(6):
    log.info("basket %d of %s", basket, session.user)
worker = threading.Thread(target=log.warning, args=("from the worker",), name="till-1")
worker.start()
worker.join()
warnings.warn("prices are of last year", stacklevel=1)
try:
    {}["voucher"]
except KeyError:
    log.exception("no voucher")
logging.shutdown()
