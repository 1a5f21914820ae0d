"""Clients of model servers: what each API wants and gives."""
