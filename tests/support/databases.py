"""Databases that tests borrow. To copy a template takes half a second of a processor, to clean a copy a hundredth."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

_numbers = itertools.count(1)

SHAPE = """
select array[
    (select sum(xmin::text::bigint) + count(*) from pg_class
      where oid >= 16384 and relnamespace = 'public'::regnamespace),
    (select sum(a.xmin::text::bigint) + count(*) from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.oid >= 16384 and c.relnamespace = 'public'::regnamespace),
    (select sum(xmin::text::bigint) + count(*) from pg_proc where oid >= 16384),
    (select sum(xmin::text::bigint) + count(*) from pg_trigger),
    (select sum(xmin::text::bigint) + count(*) from pg_constraint where oid >= 16384),
    (select count(*) from pg_db_role_setting where setdatabase <> 0)
]
"""
"""Numbers that change with whatever is created, altered or dropped, and not with rows."""
LEAVE = """
select pg_terminate_backend(pid, 5000) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""
TABLES = "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname"
COLUMNS = """
select attname from pg_attribute
where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum
"""
NEAREST = """
select distinct indrelid::regclass::text from pg_index
join pg_class on pg_class.oid = indexrelid join pg_am on pg_am.oid = relam where amname = 'hnsw'
"""
"""Rows that were deleted stay in such an index for a while, and take the places of what is looked for."""


@dataclass(frozen=True)
class _Copy:
    url: str
    shape: list[int]
    restore: sql.Composed


class Databases:
    """Copies of one template, each for one test at a time, and again as it was for the next."""

    def __init__(self, template_url: str) -> None:
        self._template = urlsplit(template_url)
        self._free: list[_Copy] = []

    @contextmanager
    def borrowed(self) -> Iterator[str]:
        copy = self._free.pop() if self._free else self._new()
        try:
            yield copy.url
        finally:
            again = _restored(copy)
            if again is None:
                self._drop(copy.url)
            else:
                self._free.append(again)

    def create(self, name: str) -> str:
        """A copy that stays, for all test processes."""
        template = self._template.path.lstrip("/")
        self._do(sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(template)))
        return self._template._replace(path=f"/{name}").geturl()

    def close(self) -> None:
        while self._free:
            self._drop(self._free.pop().url)

    def _new(self) -> _Copy:
        url = self.create(f"test_{os.getpid()}_{next(_numbers)}")
        with psycopg.connect(url) as connection:
            restore = _remember(connection)
            return _Copy(url, _one(connection, SHAPE), restore)

    def _drop(self, url: str) -> None:
        name = sql.Identifier(urlsplit(url).path.lstrip("/"))
        self._do(sql.SQL("drop database {} with (force)").format(name))

    def _do(self, statement: sql.Composed) -> None:
        maintenance = self._template._replace(path="/postgres").geturl()
        with psycopg.connect(maintenance, autocommit=True) as connection:
            connection.execute(statement)


def _one(connection: psycopg.Connection[Any], query: str) -> Any:
    found = connection.execute(query.encode()).fetchone()
    assert found is not None
    return found[0]


def _names(connection: psycopg.Connection[Any], query: str, *values: str) -> list[str]:
    return [name for (name,) in connection.execute(query.encode(), values)]


def _remember(connection: psycopg.Connection[Any]) -> sql.Composed:
    """Keeps what the template holds beside it; returns how all is made as it was."""
    connection.execute("drop schema if exists kept cascade")  # of a template that is a copy itself
    connection.execute("create schema kept")
    nearest = _names(connection, NEAREST)
    steps: list[sql.Composable] = [sql.SQL("set local session_replication_role = replica")]
    for name in _names(connection, TABLES):
        table, kept = sql.Identifier(name), sql.Identifier("kept", name)
        empty = sql.SQL("truncate {}") if name in nearest else sql.SQL("delete from {}")
        steps.append(empty.format(table))
        if _one(connection, f'select exists (select from "{name}")'):
            connection.execute(sql.SQL("create table {} as table {}").format(kept, table))
            columns = sql.SQL(", ").join(map(sql.Identifier, _names(connection, COLUMNS, f'"{name}"')))
            insert = sql.SQL("insert into {} ({}) overriding system value select {} from {}")
            steps.append(insert.format(table, columns, columns, kept))
    numbers = connection.execute("select sequencename, last_value, start_value from pg_sequences").fetchall()
    for name, last, start in numbers:
        value, called = (start, False) if last is None else (last, True)
        steps.append(sql.SQL("select setval({}, {}, {})").format(f'"{name}"', value, called))
    return sql.SQL(";\n").join(steps)


def _restored(copy: _Copy) -> _Copy | None:
    """As it was. A copy whose tables or functions were changed is not worth mending."""
    try:
        with psycopg.connect(copy.url) as connection:
            connection.execute(LEAVE)
            if _one(connection, SHAPE) != copy.shape:
                return None
            connection.execute(copy.restore)
            return replace(copy, shape=_one(connection, SHAPE))  # a table that is truncated becomes another one
    except psycopg.Error:
        return None
