"""What a question wants to be told: an attribute (a licence, a cost, who paid) or an aspect (limitations, plans)."""
