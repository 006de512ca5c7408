"""The project fixture."""

from tests.project import project

__all__ = ["project"]
