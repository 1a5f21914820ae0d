"""One call made well: limits, retries, the breaker, structured answers, the gateway all chat goes through."""
