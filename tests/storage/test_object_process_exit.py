"""A short script that uses a store ends well: nothing comes back from a thread when the interpreter is going."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.seaweed import SeaweedServer

SCRIPT = """
import asyncio, sys, tempfile
from pathlib import Path
from found_footy.storage.objects.store import open_object_store

url, endpoint, access_key, secret_key, ending = sys.argv[1:]

async def main():
    store = open_object_store(
        url, endpoint=endpoint or None, region="us-east-1", access_key=access_key or None, secret_key=secret_key or None
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(b"x" * 1_000_000)
        await asyncio.gather(*(store.put(f"exit/{number}", path) for number in range(3)))
        await store.get("exit/1", path)
        print(len([stored async for stored in store.list("exit/")]))
        await store.delete([f"exit/{number}" for number in range(3)])
        if ending == "in the middle":
            task = asyncio.create_task(store.put("exit/left", path))
            await asyncio.sleep(0)
            task.cancel()
            return
        if ending == "closed":
            await store.aclose()

asyncio.run(main())
"""


@pytest.mark.parametrize("ending", ["closed", "left open", "in the middle"])
@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_a_script_ends_with_0(seaweed: SeaweedServer, tmp_path: Path, kind: str, ending: str) -> None:
    if kind == "folder":
        place = [tmp_path.as_uri(), "", "", ""]
    else:
        place = [f"s3://{seaweed.bucket}/exit", seaweed.endpoint, seaweed.access_key, seaweed.secret_key]
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, *place, ending], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "3\n", "")
