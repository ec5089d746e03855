"""A server for language models' agents: the Model Context Protocol (MCP), spoken directly, over pipes or HTTP.

Spoken directly, since an agent waits for its start: the protocol's own package takes 1.6 seconds to import.
"""
