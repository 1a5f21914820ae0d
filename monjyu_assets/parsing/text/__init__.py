"""What all formats share: decoding, headings, outlines, the front of a paper."""
