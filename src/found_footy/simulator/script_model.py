"""What all parts of the scenario format have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError


class Model(BaseModel):
    """Frozen, and nothing but the fields that it declares."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        # Pydantic's own message for an unknown field does not tell which ones there are.
        for field in data if isinstance(data, dict) else ():
            if field not in cls.model_fields:
                context = {"field": field, "given": data[field], "fields": ", ".join(cls.model_fields)}
                raise PydanticCustomError("unknown_field", "the fields {fields}", context)
        return data
