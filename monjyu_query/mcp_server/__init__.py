"""The MCP server: tools, resources and prompts over the collections of one data folder."""
