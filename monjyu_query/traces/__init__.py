"""What is kept of each search: ids and numbers to show, audit and replay it by, and no text of the papers."""
