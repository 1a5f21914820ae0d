"""Reliable model calls: limits, retries, the breaker, structured answers, and the gateway that all chat uses."""
