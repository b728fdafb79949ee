"""What these tests share with others."""

from tests.feeds.raw_server import RawServer, Reply, Request, json_reply
from tests.support.recorded import recorded

__all__ = ["RawServer", "Reply", "Request", "json_reply", "recorded"]
