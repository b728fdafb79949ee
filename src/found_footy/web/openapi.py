"""The API's description as a file: `python -m found_footy.web.openapi > docs/reference/openapi.json`."""

from __future__ import annotations

import json
import sys
from typing import Any, cast

from found_footy.web.app import create_app
from found_footy.web.services import Services


def document() -> dict[str, Any]:
    """Of the routes as they are now. Nothing is asked of the services for this, so there need not be any."""
    return create_app(cast(Services, None)).openapi()


def written() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(written())
