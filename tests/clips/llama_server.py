"""A real llama.cpp server with a random model, as a process of its own: `python -m ... FOLDER`.

Writes its address on standard output when it listens, and ends when its standard input is closed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.clips.tiny_model import write_language_model, write_projector


def main() -> None:
    import xllamacpp

    folder = Path(sys.argv[1])
    write_language_model(folder / "model.gguf")
    write_projector(folder / "mmproj.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(folder / "model.gguf")
    parameters.mmproj.path = str(folder / "mmproj.gguf")
    parameters.n_ctx = 4096
    parameters.port = 0
    parameters.cpuparams.n_threads = 1
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"listening at {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
