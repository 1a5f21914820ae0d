"""What changed in an answer from one snapshot to another, by which document, and how it is told."""
