"""Ask the server what its own OpenAPI document says that it can be asked, and what it says that it cannot.

    python tests/torture/http_schema.py --examples 200

It needs schemathesis (pip install schemathesis, MIT), which no other test does. That makes requests of the schemas of
`/v1/openapi.json`, sound ones and others, and looks at each answer: no failure of the server, a status, a type and a
body that the document has, a refusal of what the document does not allow, and of what has no token where one is
needed. What it finds it prints with a curl command; the exit status is 1 if that is anything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

from fuzzing.small_index import made_index
from serving import TOKEN, running

from semsearch.server.open_indexes import OpenIndexes

_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "ignored_auth",
    "unsupported_method",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=100, help="of each operation and phase")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--also", nargs=argparse.REMAINDER, default=[], help="options of schemathesis itself")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        running(OpenIndexes(folder=made_index(Path(folder)).parent)) as asker,
    ):
        command = [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{asker.url}/v1/openapi.json"),
            *("--header", f"Authorization: Bearer {TOKEN}", "--checks", ",".join(_CHECKS)),
            *("--max-examples", str(given.examples), "--seed", str(given.seed), "--continue-on-failure"),
            "--no-color",
            *given.also,
        ]
        environment = {**os.environ, "NO_PROXY": "127.0.0.1", "SCHEMATHESIS_HOOKS": "fuzzing.http_schema_hooks"}
        environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), environment.get("PYTHONPATH", "")])
        sys.exit(subprocess.run(command, cwd=folder, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
