"""Exec shim: starts a child that dies with its parent and runs as a given user.

    python -I -S launch.py DEATH_SIGNAL PARENT_PID UID GID -- COMMAND...

It replaces `preexec_fn`, which runs Python between fork and exec and may deadlock in a process with threads (gRPC,
libpq). Run as a plain file without `site`, the shim costs about 25 ms and then execs the command under the
same pid.

The shim changes the user itself instead of `Popen(user=...)`: Linux clears the death signal when the uid changes, so it
must be set afterwards; and the other user may have no access to this interpreter, which is often in a private home
folder.

The death signal is sent when the *thread* that started the child ends. Children are therefore started on the event
loop's thread, never in an executor. Other systems have no such signal; there, the next start finds leftover processes
by their recorded pids.
"""

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_KEEP_USER = -1


def main(argv: list[str]) -> None:
    """Exec the command. Returns only on an error."""
    death_signal, parent_pid, uid, gid = (int(word) for word in argv[1:5])
    command = argv[6:]
    prctl = None
    if sys.platform == "linux":
        import ctypes  # before dropping privileges, because the other user may not be able to read it

        prctl = ctypes.CDLL(None).prctl
    if uid != _KEEP_USER:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if prctl is not None:
        if prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
            sys.exit("cannot set the death signal")
        if os.getppid() != parent_pid:
            sys.exit("the parent exited before the child started")
    # The interpreter ignores these signals, and exec would pass that on to the command.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error.strerror}.")


if __name__ == "__main__":
    main(sys.argv)
