"""Whether a training that was killed and resumed equals the one that was never stopped. Start with ``check.py``."""
