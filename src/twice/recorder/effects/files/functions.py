"""Functions of ``os`` on paths: what a run asks about files without opening them, and how it changes their tree.

Asked: ``stat``, ``lstat``, ``access``, ``readlink``, ``listxattr``, ``getxattr``, ``statvfs``, ``os.path.realpath``,
and through them ``os.path``, ``pathlib`` and ``shutil``. The program's own questions are answered as they were, with
sizes, times and rights. A library's question about whether a file is there, and since when, is answered as it was (an
archive holds the times of what went into it); its size and numbers are those of the file that is there now, if it is.
It is told of attributes as they are where this execution keeps the file.

Changed: ``mkdir``, ``rmdir``, ``unlink``, ``remove``, ``rename``, ``replace``, ``link``, ``symlink``, ``truncate``,
``chmod``, ``chown``, ``lchown``, ``utime``, ``mkfifo``, ``mknod``, ``setxattr``, ``removexattr``, ``chdir``, by
descriptor ``fchmod``, ``fchown`` and those of the others that take one. The program's own calls are compared in their
order, with their outcome; those of libraries are answered by what they ask with.

Not covered: ``fstat`` (it is the open file's), ``fchdir``, changes through a descriptor that writes (they are changes
to its file), ``realpath`` by a name bound before a session. Reading changes a file's access time, which is recorded as
it was found.

Invariant: what is served has every field that the system gave; in replay the real tree is not changed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from sys import _getframe
from typing import Any, NamedTuple

from twice.recorder.effects import ops
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.places import Caller
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import retry_interrupted
from twice.recorder.kernel.paths import escape_path, unescape_path

_WHOLE = ("st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid", "st_size")
_TIMES = ("st_atime", "st_mtime", "st_ctime")
_TIMES_NS = tuple(f"{name}_ns" for name in _TIMES)
_BLOCKS = ("st_blksize", "st_blocks", "st_rdev")
_NS = 1_000_000_000
_THERE, _RAISED = "there", "raised"
Answer = tuple[str, Any]
Failed = tuple[int, str] | None
_stat, _lstat = os.stat, os.lstat
_SUPPORTED = (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks)

# name in os -> the change that it makes. Paths come first.
_ONE_PATH = {
    "mkdir": "mkdir", "rmdir": "rmdir", "unlink": "unlink", "remove": "unlink", "truncate": "truncate",
    "chmod": "chmod", "chown": "chown", "lchown": "chown", "utime": "utime", "mkfifo": "mkfifo",
    "mknod": "mknod", "setxattr": "setxattr", "removexattr": "removexattr", "fchmod": "chmod",
    "fchown": "chown",
}  # fmt: skip
_TWO_PATHS = {"rename": "rename", "replace": "rename", "link": "link"}
_IN_PLACE = frozenset({"truncate", "rename", "link"})
_NEW = frozenset({"mkdir", "chmod", "mkfifo", "mknod"})


def patches(files: Files) -> list[Patch]:
    """Return the patches of the functions on paths, for a session; a name that this system lacks is passed over."""
    made = [(question.name, partial(_ask, files, question)) for question in _QUESTIONS]
    made += [(name, partial(_change_one, files, kind)) for name, kind in _ONE_PATH.items()]
    made += [(name, partial(_change_two, files, kind)) for name, kind in _TWO_PATHS.items()]
    made += [("symlink", partial(_change_link, files)), ("chdir", partial(_chdir, files))]
    rows = [
        Patch(os, name, _replace(getattr(os, name), make), _PROBES.get(name))
        for name, make in made
        if hasattr(os, name)
    ]
    rows.append(Patch(os.path, "realpath", _replace(os.path.realpath, partial(_realpath, files))))
    return rows


_PROBES: dict[str, Callable[[Any], object]] = {
    "stat": lambda read: read(__file__),
    "lstat": lambda read: read(__file__),
    "access": lambda read: read(__file__, os.R_OK),
}


def _replace(real: Any, make: Callable[[Any], Any]) -> Any:
    """Make a replacement with the name of the real one, and its abilities for code that looks in ``os.supports_...``."""
    replacement = make(real)
    replacement.__name__ = replacement.__qualname__ = real.__name__
    for supported in _SUPPORTED:
        if real in supported:
            supported.add(replacement)
    return replacement


# -- questions ------------------------------------------------------------------------------------


def _status_to_plain(found: os.stat_result) -> tuple[int, ...]:
    return tuple(getattr(found, name, 0) for name in (*_WHOLE, *_TIMES_NS, *_BLOCKS))


def _status_from_plain(answer: tuple[int, ...], _path: object = None) -> os.stat_result:
    whole, times, blocks = answer[:7], answer[7:10], answer[10:]
    rest: dict[str, float | int] = dict(zip(_BLOCKS, blocks, strict=True))
    for name, nanoseconds in zip(_TIMES, times, strict=True):
        seconds, part = divmod(nanoseconds, _NS)
        rest[name] = seconds + 1e-9 * part  # as posixmodule.c adds them
        rest[f"{name}_ns"] = nanoseconds
    return os.stat_result((*whole, *(time // _NS for time in times)), rest)


class _Question(NamedTuple):
    """A function of ``os`` that asks about a path.

    ``arguments`` are those beside the path that the record holds. ``takes_open`` says whether an open descriptor is
    asked about, too, and ``is_for_libraries`` whether a library's question is recorded.
    """

    name: str
    to_plain: Callable[[Any], Any] = lambda answer: answer
    from_plain: Callable[[Any, Any], Any] = lambda answer, _path: answer
    arguments: Callable[..., tuple[Any, ...]] = lambda *_args, **_options: ()
    takes_open: bool = False
    is_for_libraries: bool = True


_QUESTIONS = (
    _Question("stat", _status_to_plain, _status_from_plain),
    _Question("lstat", _status_to_plain, _status_from_plain),
    _Question("access", bool, arguments=lambda mode, **_options: (int(mode),)),
    _Question(
        "readlink",
        lambda target: escape_path(os.fsdecode(target)),
        lambda name, path: (
            os.fsencode(unescape_path(name)) if isinstance(path, bytes) else unescape_path(name)
        ),
    ),
    _Question(
        "listxattr",
        tuple,
        lambda names, _path: list(names),
        takes_open=True,
        is_for_libraries=False,
    ),
    _Question(
        "getxattr",
        arguments=lambda attribute, **_options: (os.fsdecode(attribute),),
        takes_open=True,
        is_for_libraries=False,
    ),
    _Question(
        "statvfs",
        lambda found: (*found, found.f_fsid),
        lambda found, _path: os.statvfs_result(found[:-1], {"f_fsid": found[-1]}),
        takes_open=True,
    ),
)


def _ask(files: Files, question: _Question, real: Callable[..., Any]) -> Callable[..., Any]:
    places, is_status = files.places, question.from_plain is _status_from_plain

    def ask(path: Any = None, *args: Any, **options: Any) -> Any:
        is_open = isinstance(path, int)
        if is_open and not question.takes_open:
            return real(path, *args, **options)
        caller = files.caller(_getframe(1))
        if caller is None:
            return real(path, *args, **options)
        asked = "." if path is None and question.name == "listxattr" else path
        place = places.of_open(path) if is_open else places.of(asked, options.get("dir_fd"))
        if place is None or (caller is not Caller.PROGRAM and not files.governs(place)):
            return real(path, *args, **options)
        how, follows = question.name, options.get("follow_symlinks", True)
        if is_status:
            follows = follows and how == "stat"
            how = "stat" if follows else "lstat"
        at = files.target(place) if follows and how != "readlink" else files.at(place)
        world = partial(real, path, *args, **options)
        if at != place and not is_open:
            inner = {name: value for name, value in options.items() if name != "dir_fd"}
            world = partial(real, at, *args, **inner)
        if files.is_silent(caller) or (caller is Caller.LIBRARY and not question.is_for_libraries):
            try:
                return world()
            except OSError as error:  # it shows the path that the program gave
                raise OSError(error.errno, error.strerror, path) from None
        more = question.arguments(*args, **options)
        live = partial(_call_plain, world, question.to_plain)
        answer = _answer(files, caller, (how, places.to_recorded(place), *more), live, path)
        if is_status and caller is Caller.LIBRARY and files.overlay is not None:
            if stat.S_ISDIR(answer[0]):
                files.contents.folder(files.overlay, place)
                world = partial(_stat if follows else _lstat, files.at(place))
            return _present_status(world, answer)
        return question.from_plain(answer, path)

    return ask


def _present_status(world: Callable[[], os.stat_result], answer: tuple[int, ...]) -> os.stat_result:
    """Return the recorded times with the size and numbers of the file that is there, for a library."""
    try:
        now = world()
    except OSError:
        return _status_from_plain(answer)
    if stat.S_IFMT(now.st_mode) != stat.S_IFMT(answer[0]):
        return _status_from_plain(answer)
    plain = _status_to_plain(now)
    return _status_from_plain((*plain[:7], *answer[7:10], *plain[10:]))


def _answer(files: Files, caller: Caller, asked: Any, live: Callable[[], Answer], path: Any) -> Any:
    """Answer a question about a file, or raise the error that it ended with."""
    ended, answer = _read(files, caller, ops.FILE_STATUS, asked, live)
    if ended == _RAISED:
        raise OSError(*answer, path)
    return answer


def _read(files: Files, caller: Caller, op: ops.Op, asked: Any, live: Callable[[], object]) -> Any:
    layer = files.layer
    if caller is not Caller.PROGRAM:
        return layer.fact(op, asked, live, needed=False)
    actor = layer.actor()
    if actor is None:
        layer.count_ungoverned(op)
    return layer.read(actor, op, live, asked)


def _call_plain(world: Callable[[], Any], to_plain: Callable[[Any], Any]) -> Answer:
    try:
        return (_THERE, to_plain(world()))
    except OSError as error:
        return (_RAISED, (error.errno or 0, error.strerror or ""))


def _realpath(files: Files, real: Callable[..., Any]) -> Callable[..., Any]:
    places = files.places

    def realpath(filename: Any, **options: Any) -> Any:
        # A library's realpath asks lstat and readlink, which are answered each.
        by_program = files.caller(_getframe(1)) is Caller.PROGRAM
        place = places.of(filename) if by_program else None
        if place is None or files.is_silent(Caller.PROGRAM):
            return real(filename, **options)

        def world() -> str:
            found = real(files.at(place), **options) if options else places.follow(place)
            return places.to_recorded(places.logical(os.fsdecode(found)))

        live = partial(_call_plain, world, lambda name: name)
        asked = ("realpath", places.to_recorded(place))
        found = places.to_local(_answer(files, Caller.PROGRAM, asked, live, filename))
        return os.fsencode(found) if isinstance(filename, bytes) else found

    return realpath


# -- changes --------------------------------------------------------------------------------------


def _change_one(files: Files, kind: str, original: Any) -> Callable[..., Any]:
    real, is_by_descriptor = retry_interrupted(original), original.__name__ in {"fchmod", "fchown"}
    by_path = getattr(os, kind) if is_by_descriptor else real

    def change(path: Any, *args: Any, dir_fd: Any = None, **options: Any) -> Any:
        whole = options if dir_fd is None else {**options, "dir_fd": dir_fd}
        caller = files.caller(_getframe(1))
        place = None
        if caller is not None and not isinstance(path, int):
            place = files.places.of(path, dir_fd)
        elif caller is not None and not files.writes.is_writing(path):
            # Of a file that is open for writing, its own layer sees the change.
            place = files.places.of_open(path)
        if caller is None or place is None or not files.governs(place):
            return real(path, *args, **whole)
        return _change(
            files, caller, kind, (place,), _plain_arguments(kind, args, options),
            lambda: real(path, *args, **whole),
            lambda at: by_path(at, *args, **options), (path,),
        )  # fmt: skip

    return change


def _change_two(files: Files, kind: str, original: Any) -> Callable[..., Any]:
    real = retry_interrupted(original)

    def change(
        src: Any, dst: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None, **options: Any
    ) -> Any:
        folders = {"src_dir_fd": src_dir_fd, "dst_dir_fd": dst_dir_fd}
        live = partial(real, src, dst, **folders, **options)
        caller = files.caller(_getframe(1))
        if caller is None:
            return live()
        source, target = files.places.of(src, src_dir_fd), files.places.of(dst, dst_dir_fd)
        if source is None or target is None or not any(map(files.governs, (source, target))):
            return live()
        return _change(
            files, caller, kind, (source, target), (), live, lambda _path: None, (src, dst)
        )

    return change


def _change_link(files: Files, original: Any) -> Callable[..., Any]:
    real = retry_interrupted(original)

    def symlink(
        src: Any, dst: Any, target_is_directory: bool = False, *, dir_fd: Any = None
    ) -> None:
        live = partial(real, src, dst, target_is_directory, dir_fd=dir_fd)
        caller = files.caller(_getframe(1))
        place = None if caller is None else files.places.of(dst, dir_fd)
        if caller is None or place is None or not files.governs(place):
            live()
            return
        said = (files.places.to_recorded(os.fsdecode(src)),)
        _change(files, caller, "symlink", (place,), said, live, partial(real, src), (src, dst))

    return symlink


def _chdir(files: Files, original: Any) -> Callable[..., Any]:
    real = retry_interrupted(original)

    def chdir(path: Any) -> None:
        caller = files.caller(_getframe(1))
        place = None if caller is None else files.places.of(path)
        if place is not None and files.overlay is not None:
            path = files.target(place)
        real(path)  # the folder is this process's own: it is compared by what is asked in it

    return chdir


def _change(
    files: Files,
    caller: Caller,
    kind: str,
    places: tuple[str, ...],
    said: tuple[Any, ...],
    real: Callable[[], Any],
    in_overlay: Callable[[Any], Any],
    given: tuple[Any, ...],
) -> None:
    """Let one change happen: in the world, in the overlay, or as the record says."""
    overlay, happened = files.overlay, False
    if kind in _IN_PLACE:
        files.contents.record_preimage(places[0])
    if kind not in _NEW:  # the record keeps what the change would remove
        for place in places:
            files.contents.before_change(place)

    def live() -> Failed:
        nonlocal happened
        happened = True
        try:
            if overlay is None:
                real()
            else:
                overlay.require(kind, places)
                overlay.apply(kind, places, in_overlay)
        except OSError as error:
            return (error.errno or 0, error.strerror or "")
        return None

    asked = (kind, *map(files.places.to_recorded, places), *said)
    silent = files.is_silent(caller)
    failed: Failed = live() if silent else _read(files, caller, ops.FILE_CHANGED, asked, live)
    if failed is not None:
        number, text = failed
        raise OSError(number, text, given[0], *((None, given[1]) if len(given) > 1 else ()))
    if overlay is not None and not happened:
        with suppress(OSError):  # it came to pass; what cannot be repeated shows when it is read
            overlay.apply(kind, places, in_overlay)
    files.writes.after_change(kind, places)


def _plain_arguments(kind: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Return the plain arguments besides the paths, such as a length or a mode; times are left out."""
    if kind == "utime":
        return ()
    plain = (*args, *(options[name] for name in sorted(options)))
    return tuple(value for value in plain if isinstance(value, int | str | bytes | None))
