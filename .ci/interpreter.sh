# Sourced by .ci/run and .ci/nightly: settings that both share, and $interpreter, the Python to test on.
export CI=true PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
unset PYTHONDONTWRITEBYTECODE  # every process would compile all of twice anew: twice the time

# $TWICE_CI_PYTHON, else python3.11, else another one that the project supports. A shim that only prints an
# error does not count, so each candidate has to run.
interpreter=
for candidate in ${TWICE_CI_PYTHON:-python3.11 python3.12 python3.13 python3}; do
  if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
    interpreter=$candidate
    break
  fi
done
if [ -z "$interpreter" ]; then
  echo "No Python 3.11, 3.12 or 3.13 was found on PATH; one of them is needed." >&2
  exit 2
fi

# step NAME COMMAND...: run a command, say before what it is and afterwards how long it took.
step() {
  local name=$1 begun=$SECONDS
  shift
  printf '== %s\n' "$name"
  "$@"
  printf '== %s: %d s\n' "$name" $((SECONDS - begun))
}
