"""What the columns of all tables have in common."""

from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Integer, MetaData
from sqlmodel import Field, SQLModel

SQLModel.metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite gives numbers out again unless told not to, and counts only INTEGER keys up by itself.
Key = BigInteger().with_variant(Integer, "sqlite")
Json = JSON(none_as_null=True)


def primary_key() -> Any:
    return Field(default=None, sa_column=Column(Key, primary_key=True, autoincrement=True))


def key_of(*, index: bool = False, nullable: bool = False) -> Any:
    return Field(default=None, sa_column=Column(Key, nullable=nullable, index=index))


def time(*, nullable: bool = False) -> Any:
    return Field(default=None, sa_column=Column(BigInteger, nullable=nullable))
