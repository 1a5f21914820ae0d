"""From a question to a result: request, routing, controllers, trace."""
