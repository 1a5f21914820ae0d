"""Collections in an object store: one machine publishes, others follow or take over."""
