"""Who asks and what they may do: keys, tokens, rates, the gate, the audit log."""
