"""The archive for agents: an MCP server on standard input and output, written by hand so that it starts at once."""
