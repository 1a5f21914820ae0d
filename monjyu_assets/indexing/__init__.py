"""What `monjyu index` does: scan the sources, find what is pending, plan and run."""
