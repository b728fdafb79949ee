"""Named SQL: `query("fixtures.add")` is the query `add` of `fixtures.sql`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


def parse(text: str) -> dict[str, str]:
    """A query starts at a line `-- name: …` and ends at the next."""
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    return {name: sql.strip().removesuffix(";") for name, sql in zip(parts[::2], parts[1::2], strict=True)}


@cache
def query(name: str) -> bytes:
    topic, _, wanted = name.partition(".")
    text = (files(__package__) / f"{topic}.sql").read_text(encoding="utf-8")
    # Bytes, because psycopg types accept only literal strings.
    return parse(text)[wanted].encode()
