"""The way in for Python programs: `Monjyu` and `AsyncMonjyu`."""
