"""The operations of the server, declared: routes, parameters, answers. The OpenAPI document is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from semsearch.serve.event_stream import Work
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operations.parameters import Given, Parameter

Method = Literal["GET", "POST", "PUT", "DELETE"]
JSON_TYPE = "application/json"
Run = Callable[[OpenIndexes, Given], dict[str, Any] | bytes]  # bytes where the answer is not JSON
RunTogether = Callable[[OpenIndexes, Sequence[Given]], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the server. With GET and DELETE, parameters come as a query string, otherwise as a JSON body.

    The name in braces in the path, if there is one, is the first parameter.
    """

    method: Method
    path: str
    name: str  # unique
    says: str
    run: Run
    answer: Any  # the class whose fields the JSON has; bytes where the answer is not JSON
    parameters: tuple[Parameter, ...] = ()
    example: Mapping[str, Any] = field(default_factory=dict)  # of the parameters
    is_write: bool = False
    is_drawn: bool = False  # a picture: made one after the other, beside the queries
    is_long: bool = False  # takes minutes, though it changes nothing: waits with the writes, and needs no token
    media: str = JSON_TYPE  # of the answer
    stream: Callable[[OpenIndexes, Given], Work] | None = None  # answers by server-sent events too
    together: RunTogether | None = None  # answers requests that differ in their query only, at less cost

    @property
    def in_path(self) -> Parameter | None:
        """The parameter that is part of the path."""
        return self.parameters[0] if "{" in self.path else None

    @property
    def beside_path(self) -> tuple[Parameter, ...]:
        """The parameters that are not part of the path."""
        return self.parameters if self.in_path is None else self.parameters[1:]

    @property
    def has_body(self) -> bool:
        """True for methods whose requests carry a body."""
        return self.method in ("POST", "PUT")
