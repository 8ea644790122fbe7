"""The client library of the Wonrail wallet and transaction recording API."""

from . import errors, models, webhooks
from ._client import Client
from ._page import Page
from ._resource import OMIT
from ._version import VERSION as __version__
from .errors import ServiceError

__all__ = ["OMIT", "Client", "Page", "ServiceError", "__version__", "errors", "models", "webhooks"]
