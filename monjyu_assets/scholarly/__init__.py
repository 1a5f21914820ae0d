"""What others say of the papers: notices of retraction, from files of scholarly services."""
