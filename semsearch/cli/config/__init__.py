"""The commands that show and begin a configuration."""
