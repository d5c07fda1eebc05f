"""A storage simulator: drives, and how near they come to those that were measured."""
