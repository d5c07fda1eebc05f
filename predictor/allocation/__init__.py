"""What a file system's allocator is told of a create."""
