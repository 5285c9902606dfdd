"""Logging configured by a dictionary: files that roll over, a queue listener, times, and captured warnings."""
import logging
import logging.config
import logging.handlers
import queue
import warnings

logging.config.dictConfig({
    "version": 1,
    "formatters": {"full": {"format": "%(asctime)s.%(msecs)03d %(levelname)s %(name)s %(process)d %(threadName)s %(funcName)s:%(lineno)d %(message)s"},
                   "short": {"format": "{relativeCreated:.3f} {levelname} {message}", "style": "{"}},
    "handlers": {"file": {"class": "logging.handlers.RotatingFileHandler", "filename": "app.log", "maxBytes": 2000, "backupCount": 3, "formatter": "full"},
                 "err": {"class": "logging.StreamHandler", "formatter": "short", "level": "WARNING"}},
    "root": {"level": "DEBUG", "handlers": ["file", "err"]},
})
log = logging.getLogger("app.part")
logging.captureWarnings(True)
warnings.simplefilter("once")


def work(number):
    log.debug("step %d of %s", number, {"a": number})
    if number % 7 == 0:
        warnings.warn("a number in seven", DeprecationWarning, stacklevel=2)
        log.warning("seventh %s", number)


for number in range(40):
    work(number)
try:
    {}["missing"]
except KeyError:
    log.exception("with a traceback")
pending = queue.SimpleQueue()
listener = logging.handlers.QueueListener(pending, logging.FileHandler("queued.log"))
listener.start()
other = logging.getLogger("queued")
other.propagate = False
other.addHandler(logging.handlers.QueueHandler(pending))
for number in range(20):
    other.info("queued %d", number)
listener.stop()
logging.captureWarnings(False)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("kept apart", UserWarning)
    warnings.warn_explicit("explicit", RuntimeWarning, "nowhere.py", 12)
print([(str(w.message), w.category.__name__, w.lineno) for w in caught])
warnings.warn("at the end", stacklevel=1)
print(open("queued.log").read().count("\n"), "queued lines")
