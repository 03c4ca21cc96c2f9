"""One reader per public format. Each takes a file's numbered lines and yields records, or problems with their line."""
