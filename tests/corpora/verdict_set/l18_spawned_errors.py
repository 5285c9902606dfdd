"""A child started by posix_spawn writes bytes of /dev/urandom to the standard error that it inherited."""
import os

child = os.posix_spawn("/bin/sh", ["sh", "-c", "od -An -N12 -tu1 /dev/urandom >&2"], os.environ)
print("child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
