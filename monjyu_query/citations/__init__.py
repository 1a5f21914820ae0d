"""References and the citation network of papers, and the knowledge graph: views and exports."""
