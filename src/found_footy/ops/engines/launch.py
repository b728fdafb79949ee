"""Exec shim: a child that ends with its parent, and runs as the right user.

    python -I -S launch.py DEATH_SIGNAL PARENT_PID UID GID -- COMMAND...

Why a shim and not `preexec_fn`: that one runs Python between fork and exec in a process with threads (gRPC,
libpq), where it may deadlock. Run as a plain file without `site`, the shim costs about 25 ms, and then it *is* the
command: same pid, no process in between.

Why it drops the user itself, where `Popen(user=...)` could: Linux forgets the death signal when the uid
changes, so it must be asked for afterwards; and the other user may not be able to reach this interpreter at all,
which often lies in a closed home folder.

The death signal comes when the *thread* that started the child ends. Children are therefore started on the
event loop's own thread, never in an executor. Other systems have no such signal; there the next start finds what
was left over by its recorded pid.
"""

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_KEEP_USER = -1


def main(argv: list[str]) -> None:
    """Become the command. Returns only by an error."""
    death_signal, parent_pid, uid, gid = (int(word) for word in argv[1:5])
    command = argv[6:]
    prctl = None
    if sys.platform == "linux":
        import ctypes  # while we are still who we were: the other user may not be able to read it

        prctl = ctypes.CDLL(None).prctl
    if uid != _KEEP_USER:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if prctl is not None:
        if prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
            sys.exit("The kernel refuses the death signal.")
        if os.getppid() != parent_pid:
            sys.exit("The parent ended before its child began.")
    # The interpreter ignores these two, and exec would hand that on to the command.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error.strerror}.")


if __name__ == "__main__":
    main(sys.argv)
