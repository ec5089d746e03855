"""An MCP server for agents: the Model Context Protocol, implemented directly, over pipes or HTTP.

Directly, because an agent waits for its start: the protocol's own package takes 1.6 seconds to import. And the way
back: a language model that is asked to answer from passages.
"""
