"""How requests are declared for every way in: commands, HTTP, MCP, Python and the page."""
