"""What levels 2 to 4 have made of the papers, as a snapshot holds it: entities, relationships, reports, claims."""
