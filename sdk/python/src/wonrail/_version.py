"""The version of the package; a test compares it with pyproject.toml."""

VERSION = "1.0.0"
