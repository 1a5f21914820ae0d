"""What Word documents and slides share: packages, unstructured's partition, sections."""
