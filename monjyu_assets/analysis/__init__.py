"""PDFs analysed by Azure AI Document Intelligence: each content is sent once, its analysis and cost recorded."""
