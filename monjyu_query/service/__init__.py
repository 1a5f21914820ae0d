"""The HTTP service: one router module a topic, joined in `app.create_app`."""
