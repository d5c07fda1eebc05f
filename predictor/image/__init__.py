"""The compiled image: its format, and a module for each kind of section."""
