"""What these tests share with others."""

from tests.support.football import Monitor
from tests.support.recorded import recorded

__all__ = ["Monitor", "recorded"]
