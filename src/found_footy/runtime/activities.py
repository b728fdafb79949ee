"""Registers a method as the activity that a `Call` names, until all workflows call activities by reference."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TypeVar

from temporalio import activity

from found_footy.errors import FootyError
from found_footy.fixtures.messages import Call, In, Out
from found_footy.runtime.worker import application_error

Self = TypeVar("Self")


def implements(
    call: Call[In, Out],
) -> Callable[[Callable[[Self, In], Awaitable[Out]]], Callable[[Self, In], Awaitable[Out]]]:
    def decorate(method: Callable[[Self, In], Awaitable[Out]]) -> Callable[[Self, In], Awaitable[Out]]:
        @activity.defn(name=call.name)
        @wraps(method)
        async def run(self: Self, argument: In) -> Out:
            try:
                return await method(self, argument)
            except FootyError as error:
                raise application_error(error) from error

        return run

    return decorate
