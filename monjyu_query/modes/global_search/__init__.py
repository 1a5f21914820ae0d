"""Global search: map-reduce over community reports, those of one level or those that a walk from the root selects.

Edge and others 2024, "From Local to Global: A Graph RAG Approach to Query-Focused Summarization"; dynamic selection as
in Microsoft Research, "GraphRAG: Improving global search via dynamic community selection" (November 2024).
"""
