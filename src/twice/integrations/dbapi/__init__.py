"""Databases under a run, by the driver's own interface: for drivers whose I/O happens in C.

    from twice.integrations import dbapi

    connection = dbapi.connect(psycopg.connect, "dbname=shop")

What goes through Python's sockets (``pg8000``, ``pymysql``, ``redis``) needs none of this.

Invariant: in replay no database is touched.
"""

from __future__ import annotations

from twice.integrations.dbapi.connection import connect

__all__ = ["connect"]
