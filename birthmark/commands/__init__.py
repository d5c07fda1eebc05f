"""The commands of `birthmark`, a module for each stage of its road."""
