"""Write the OpenAPI document: `python -m found_footy.web.openapi > docs/reference/openapi.json`."""

from __future__ import annotations

import json
import sys
from typing import Any

from found_footy.web.app import create_routes


def document() -> dict[str, Any]:
    return create_routes().openapi()


def document_json() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document_json())
