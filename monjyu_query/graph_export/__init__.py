"""`monjyu graph export`: the graph of a snapshot for other programs, as GraphML or as microsoft/graphrag's tables."""
