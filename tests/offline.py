"""A guard for programs that must run without a network and write nothing."""

NO_NETWORK_NO_WRITES = """
import os, sys
def watch(event, args):
    if event.startswith("socket."):
        os._exit(41)
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        os._exit(42)
sys.dont_write_bytecode = True
sys.addaudithook(watch)
"""
"""Put before a program: it exits with 41 at the first socket and with 42 at the first file opened for writing."""
