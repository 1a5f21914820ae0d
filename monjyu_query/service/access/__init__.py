"""Who asks and what they may: keys, tokens, rates, the gate, the audit log."""
