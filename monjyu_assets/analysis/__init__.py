"""PDFs analysed by Azure AI Document Intelligence: asked once for a content, kept, and charged to the ledger."""
