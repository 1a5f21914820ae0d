"""The MCP server: tools, resources and prompts for the collections of one data folder."""
