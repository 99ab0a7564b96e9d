"""Stores for tests: one file or one PostgreSQL schema each, so that the same test is held to both."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.postgres import fresh_url

DATABASES = ["sqlite", "postgresql"]


def new_url(database: str, folder: Path) -> str:
    """Where an empty store can be made."""
    return fresh_url() if database == "postgresql" else f"sqlite:///{folder}/mind.db"


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store can be made, once on each database."""
    return new_url(request.param, tmp_path)
