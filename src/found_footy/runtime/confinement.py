"""Drops privileges of the current process: user, file system, network, system calls. Linux only.

Standard library only: sandboxed processes use it before they import anything else, and Chromium's launcher runs it as a
plain file. Mechanisms that the kernel lacks are skipped; `available` reports them.

A process of root becomes `nobody` and keeps one capability: to open files in folders that are closed to others, such
as the data folder. Landlock limits it to the given paths.
"""

from __future__ import annotations

import ctypes
import errno
import os
import pwd
import resource
import struct
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_KEEPCAPS, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 8, 22, 38, 47
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_NOBODY = 65_534

# The same numbers on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ALL_OF_ABI_1 = (1 << 13) - 1
_DEVICES = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11
"""Creating devices, sockets and pipes, which no confined process needs."""
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_CONNECT_TCP, _BIND_TCP = 2, 1
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
"""Scopes: no access to abstract sockets of other processes, and no signals to them."""

SYSTEM_PATHS = tuple(
    Path(each)
    for each in (
        *("/usr", "/lib", "/lib32", "/lib64", "/opt", "/nix/store"),
        *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies"),
        *("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services"),
        *("/etc/protocols", "/etc/localtime", "/etc/timezone", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/passwd"),
        *("/etc/group", "/etc/mime.types", "/etc/fonts", "/etc/alternatives", "/proc/self", "/proc/cpuinfo"),
        *("/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/sys/vm", "/proc/sys/kernel"),
        *("/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm", "/sys/fs/cgroup"),
        *("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"),
    )
)
"""Programs, libraries and properties of the machine. Not all of /etc, which may contain our settings, and not all of
/proc, which shows command lines of other processes.
"""
_WRITABLE_DEVICES = frozenset({Path("/dev/null"), Path("/dev/zero")})

_AF_INET, _AF_INET6, _AF_NETLINK = 2, 10, 16
_CLONE_THREAD, _CLONE_NAMESPACES = 0x0001_0000, 0x7E02_0000
_CLONE_NEWUSER, _CLONE_NEWNET = 0x1000_0000, 0x4000_0000


@dataclass(frozen=True, slots=True)
class Confinement:
    """Permissions of a confined process."""

    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    """Existing files, and folders including their contents."""
    programs: tuple[Path, ...] = ()
    """Programs that it may start. If empty, it can start threads but no processes."""
    ports: frozenset[int] | None = None
    """TCP ports that it may connect to. None: no sockets at all."""
    filters_itself: bool = False
    """For a browser, which filters system calls and creates namespaces itself, and connects to any port."""


@dataclass(frozen=True, slots=True)
class Available:
    landlock: int
    """Version of the kernel's Landlock interface, 0 if it has none."""
    seccomp: bool
    user: str | None
    """The user that root becomes; None if we are not root and keep our user."""


def available() -> Available:
    user = _unprivileged_user()[0] if os.geteuid() == 0 else None
    return Available(landlock_version(), _has_seccomp(), user)


def landlock_version() -> int:
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def confine(rules: Confinement, death_signal: int | None = None) -> None:
    """Confine this process permanently. It must have a single thread. Raises OSError if root cannot drop privileges.

    `death_signal` is set again, because Linux clears it when the user changes.
    """
    if sys.platform != "linux":
        return
    libc = _libc()
    ruleset = _ruleset(rules)
    if os.geteuid() == 0:
        _become_nobody(libc, writes=bool(rules.writes), keep_for_programs=bool(rules.programs))
    if death_signal is not None:
        libc.prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if ruleset is not None:
        libc.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
        os.close(ruleset)
    if not rules.filters_itself:
        _install_filter(libc, rules)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


# --- User.


def _unprivileged_user() -> tuple[str, int, int]:
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return str(_NOBODY), _NOBODY, _NOBODY
    return entry.pw_name, entry.pw_uid, entry.pw_gid


def unprivileged_uid() -> int:
    """Return the user id of confined processes."""
    return _unprivileged_user()[1] if os.geteuid() == 0 else os.geteuid()


def threads_of(uid: int) -> int:
    """Count the threads of a user, as the kernel does for RLIMIT_NPROC."""
    count = 0
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _become_nobody(libc: ctypes.CDLL, *, writes: bool, keep_for_programs: bool) -> None:
    _, uid, gid = _unprivileged_user()
    kept = 1 << _CAP_DAC_READ_SEARCH | (1 << _CAP_DAC_OVERRIDE if writes else 0)
    libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    kept &= _permitted()  # a container may have removed some from root
    header = struct.pack("=Ii", 0x2008_0522, 0)  # version 3
    data = struct.pack("=6I", kept, kept, kept if keep_for_programs else 0, 0, 0, 0)
    if libc.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "cannot drop capabilities")
    for number in (_CAP_DAC_READ_SEARCH, _CAP_DAC_OVERRIDE):
        if keep_for_programs and kept & 1 << number:
            libc.prctl(_PR_CAP_AMBIENT, 2, number, 0, 0)


def _permitted() -> int:
    with open("/proc/self/status", "rb") as status:
        return next(int(line.split()[1], 16) for line in status if line.startswith(b"CapPrm:"))


# --- Files and ports, by Landlock.


def _ruleset(rules: Confinement) -> int | None:
    """Return the descriptor of a ruleset, or None without Landlock."""
    version = landlock_version()
    if version == 0:
        return None
    handled = _ALL_OF_ABI_1
    handled |= _REFER if version >= 2 else 0
    handled |= _TRUNCATE if version >= 3 else 0
    handled |= _IOCTL_DEV if version >= 5 else 0
    if rules.filters_itself:
        attributes = struct.pack("=QQQ", handled, 0, _SIGNALS)
    else:
        attributes = struct.pack("=QQQ", handled, _BIND_TCP | _CONNECT_TCP, _SIGNALS | _ABSTRACT_SOCKETS)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    libc = _libc()
    ruleset = int(libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)))
    if ruleset < 0:
        return None
    reading = _READ_FILE | _READ_DIR
    for path in (*SYSTEM_PATHS, *rules.reads):
        extra = _WRITE_FILE if path in _WRITABLE_DEVICES else _EXECUTE if rules.programs and _is_library(path) else 0
        _allow_path(libc, ruleset, path, (reading | extra) & handled)
    for path in rules.programs:
        _allow_path(libc, ruleset, path, (reading | _EXECUTE) & handled)
    if rules.programs:
        _allow_path(libc, ruleset, Path("/proc"), reading & handled)  # /proc/self of a new program is a different path
    for path in rules.writes:
        _allow_path(libc, ruleset, path, handled & ~_EXECUTE & ~_DEVICES)
    if version >= 4 and rules.ports is not None:
        # Binding to any free port is allowed: libraries detect IPv6 this way.
        _add_rule(libc, ruleset, 2, struct.pack("=QQ", _BIND_TCP, 0))
        for port in rules.ports:
            _add_rule(libc, ruleset, 2, struct.pack("=QQ", _CONNECT_TCP, port))
    return ruleset


def _is_library(path: Path) -> bool:
    """Whether programs may load or execute files here: the dynamic loader is executed like a program."""
    return path.parts[1] in ("usr", "lib", "lib32", "lib64", "opt", "nix")


def _allow_path(libc: ctypes.CDLL, ruleset: int, path: Path, access: int) -> None:
    with suppress(OSError):  # not every machine has all of these paths
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not path.is_dir():
                access &= _ON_FILES
            _add_rule(libc, ruleset, 1, struct.pack("=Qi", access, descriptor))
        finally:
            os.close(descriptor)


def _add_rule(libc: ctypes.CDLL, ruleset: int, kind: int, rule: bytes) -> None:
    libc.syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(kind), rule, ctypes.c_uint32(0))


# --- System calls, by seccomp.


@dataclass(frozen=True, slots=True)
class _Machine:
    """System call numbers of one architecture. Those from 424 on are the same on all."""

    audit: int
    denied: Sequence[int]
    """Debugging, other processes' memory, kernel modules, mounts, namespaces, keys, and files by handle."""
    processes: Sequence[int]
    """fork, vfork, execve, execveat, tkill and queued signals."""
    clone: int
    socket: int
    kill: int
    tgkill: int


_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000_003E,
        denied=(
            *(101, 103, 155, 161, 163, 164, 165, 166, 167, 168, 169, 170, 172, 173, 175, 176, 179, 180, 212, 227, 246),
            *(248, 249, 250, 272, 298, 303, 304, 308, 310, 311, 312, 313, 320, 321, 323),
        ),
        processes=(57, 58, 59, 322, 200, 129, 297, 424),
        clone=56,
        socket=41,
        kill=62,
        tgkill=234,
    ),
    "aarch64": _Machine(
        audit=0xC000_00B7,
        denied=(
            *(18, 39, 40, 41, 42, 51, 60, 89, 97, 104, 105, 106, 112, 116, 117, 142, 161, 170, 217, 218, 219, 224, 225),
            *(241, 264, 265, 268, 270, 271, 272, 273, 280, 282, 294),
        ),
        processes=(221, 281, 130, 138, 240, 424),
        clone=220,
        socket=198,
        kill=129,
        tgkill=131,
    ),
}
_DENIED_EVERYWHERE = (*range(425, 434), 438, 440, 442, 447)
"""io_uring, the newer mount calls, and access to files and memory of other processes."""
_CLONE3 = 435
_LOAD, _EQUALS, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16


def _has_seccomp() -> bool:
    if sys.platform != "linux" or os.uname().machine not in _MACHINES:
        return False
    libc = _libc()
    # A null filter pointer: EFAULT means that the kernel supports filters.
    return libc.prctl(_PR_SET_SECCOMP, 2, None, 0, 0) == -1 and ctypes.get_errno() == errno.EFAULT


def _install_filter(libc: ctypes.CDLL, rules: Confinement) -> None:
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return
    program = b"".join(_build_filter(machine, rules))
    buffer = ctypes.create_string_buffer(program, len(program))
    descriptor = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    libc.prctl(_PR_SET_SECCOMP, 2, descriptor, 0, 0)


def _build_filter(machine: _Machine, rules: Confinement) -> Iterable[bytes]:
    yield _instruction(_LOAD, _ARCHITECTURE)
    yield from _return_if(_EQUALS, machine.audit, _KILL, negated=True)
    yield _instruction(_LOAD, _NUMBER)
    yield from _return_if(_AT_LEAST, 0x4000_0000, _FAIL | errno.EPERM)  # x32 aliases of the same calls
    alone = not rules.programs
    for number in (*machine.denied, *_DENIED_EVERYWHERE, *(machine.processes if alone else ())):
        yield from _return_if(_EQUALS, number, _FAIL | errno.EPERM)
    # A filter cannot inspect clone3's flags, which are in memory. With ENOSYS, the C library falls back to clone.
    yield from _return_if(_EQUALS, _CLONE3, _FAIL | errno.ENOSYS)
    yield from _restrict_first_argument(machine.clone, _ANY_BIT, (_CLONE_NAMESPACES,), allow_on_match=False)
    if alone:
        yield from _restrict_first_argument(machine.clone, _ANY_BIT, (_CLONE_THREAD,))
        for number in (machine.kill, machine.tgkill):
            yield from _restrict_first_argument(number, _EQUALS, (os.getpid(),))
    families = () if rules.ports is None else (_AF_INET, _AF_INET6, _AF_NETLINK)
    yield from _restrict_first_argument(machine.socket, _EQUALS, families)
    yield _instruction(_RETURN, _ALLOW)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _return_if(test: int, value: int, result: int, *, negated: bool = False) -> Iterable[bytes]:
    """Return `result` if the test is true, or if it is false when negated."""
    yield _instruction(test, value, *((1, 0) if negated else (0, 1)))
    yield _instruction(_RETURN, result)


def _restrict_first_argument(
    number: int, test: int, values: Sequence[int], *, allow_on_match: bool = True
) -> Iterable[bytes]:
    """For one system call, allow only these first arguments, or deny only these."""
    steps = [_instruction(_LOAD, _FIRST_ARGUMENT)]
    denied = _instruction(_RETURN, _FAIL | errno.EPERM)
    for left, value in zip(range(len(values) - 1, -1, -1), values, strict=True):
        # A match skips the remaining tests, and also the denial if matches are allowed.
        steps.append(
            _instruction(test, value, left + 1 if allow_on_match else left, 0 if left or allow_on_match else 1)
        )
    steps += [denied, _instruction(_LOAD, _NUMBER)]
    yield _instruction(_EQUALS, number, 0, len(steps))
    yield from steps


# --- Run as a program: confine this process, then exec a browser.


MAX_BROWSER_THREADS = 4096
MAX_BROWSER_FILE_BYTES = 2 * 1024**3
BROWSER_READS = tuple(
    map(Path, ("/proc", "/sys", "/dev/shm", "/etc/chromium", "/etc/chromium.d", "/etc/opt", "/var/lib"))
)


def launch_browser(folders: Sequence[Path], command: Sequence[str]) -> None:
    """Exec a browser that can write to these folders only. Returns only on error."""
    uid, (_, nobody, group) = unprivileged_uid(), _unprivileged_user()
    if os.geteuid() == 0:
        for folder in folders:
            for path, _, names in os.walk(folder):
                for each in (path, *(os.path.join(path, name) for name in names)):
                    os.chown(each, nobody, group, follow_symlinks=False)
    resource.setrlimit(resource.RLIMIT_NPROC, (threads_of(uid) + MAX_BROWSER_THREADS,) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_BROWSER_FILE_BYTES,) * 2)
    program = Path(command[0])
    # /proc, because the sandbox of its renderers writes uid maps there.
    writes = (*folders, Path(tempfile.gettempdir()), Path("/dev/shm"), Path("/proc"))
    programs = (program, program.resolve().parent)
    confine(Confinement(reads=BROWSER_READS, writes=writes, programs=programs, filters_itself=True))
    os.execv(program, list(command))


def can_make_namespaces() -> bool:
    """Whether the unprivileged user can create the namespaces of a browser's sandbox. Changes this process."""
    if os.geteuid() == 0:
        _become_nobody(_libc(), writes=False, keep_for_programs=False)
    libc = _libc()
    return all(int(libc.unshare(kind)) == 0 for kind in (_CLONE_NEWUSER, _CLONE_NEWNET))


if __name__ == "__main__":
    if sys.argv[1:] == ["--probe"]:
        sys.exit(0 if can_make_namespaces() else 1)
    _end = sys.argv.index("--")
    launch_browser([Path(each) for each in sys.argv[1:_end]], sys.argv[_end + 1 :])
