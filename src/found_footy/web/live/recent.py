"""The latest messages, shared by all listeners: within bounds, without gaps."""

from __future__ import annotations

from collections.abc import Sequence

from found_footy.web.live.messages import Message


class Recent:
    """Every message after `floor` up to `last`, without exception. Who stands before `floor` needs the database."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._messages: list[Message] = []
        self._bytes = 0
        self.floor = self.last = 0

    def __len__(self) -> int:
        return len(self._messages)

    def begin(self, position: int) -> None:
        """Forgets everything: what comes next comes after this."""
        self._messages.clear()
        self._bytes = 0
        self.floor = self.last = position

    def add(self, messages: Sequence[Message]) -> None:
        for message in messages:
            if message.position != self.last + 1:  # what was between them is past retention
                self.begin(message.position - 1)
            self._messages.append(message)
            self._bytes += len(message.content)
            self.last = message.position
        while len(self._messages) > self._most or self._bytes > self._most_bytes:
            oldest = self._messages.pop(0)
            self._bytes -= len(oldest.content)
            self.floor = oldest.position

    def after(self, position: int, most: int) -> list[Message]:
        """Those that come next; nothing for who is ahead of us. The position is not before the floor."""
        start = position - self.floor
        assert start >= 0
        return self._messages[start : start + most]
