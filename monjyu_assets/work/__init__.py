"""What each stage is given: the collection's folder, settings, declarations, and the parts that fit together."""
