"""What calls cost: the ledger, caps, prices, estimates."""
