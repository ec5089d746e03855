"""What the package's description says besides pyproject.toml: its page on the index, and addresses.

The page is README.md. Its links are relative, which a package index cannot follow: they become addresses in the
repository at the version's tag. The MCP registry looks there for the server's name, which proves the owner.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)]*)?\)")


class Description(MetadataHookInterface):
    """The package's page and addresses; without a repository the page is README.md as it is."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set readme and urls."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = self.config["repository"]
        metadata["urls"] = addresses(repository) if repository else {}
        page = package_page(text, repository, metadata["version"]) if repository else text
        metadata["readme"] = {"content-type": "text/markdown", "text": page}


def addresses(repository: str) -> dict[str, str]:
    """The project's addresses, by the names that package indexes know."""
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/blob/main/docs/README.md",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Source": repository,
        "Issues": f"{repository}/issues",
    }


def package_page(readme: str, repository: str, version: str) -> str:
    """README.md for a package index: with addresses for its links, and the name in the MCP registry."""

    def whole(link: re.Match[str]) -> str:
        kind = "raw" if link["picture"] else "blob"
        address = f"{repository}/{kind}/v{version}/{link['path']}{link['anchor'] or ''}"
        return f"{link['picture']}[{link['text']}]({address})"

    return f"{_LINK.sub(whole, readme)}\n<!-- mcp-name: {mcp_name(repository)} -->\n"


def mcp_name(repository: str) -> str:
    """The server's name in the MCP registry, in which whoever owns a repository on GitHub may publish."""
    owner = repository.rstrip("/").split("/")[-2]
    return f"io.github.{owner}/semsearch"
