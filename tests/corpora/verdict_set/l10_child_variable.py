"""Puts an address into an environment variable and starts a child that inherits it and says nothing."""
import os

marker = object()
os.environ["BS_STAMP"] = str(id(marker))
print("child ended with", os.waitstatus_to_exitcode(os.system("true")))
