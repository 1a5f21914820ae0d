"""What papers call things, language by language: one data file for each language, read by one loader."""
