"""The archive for agents: an MCP server on standard input and output, without a library so that it starts at once."""
