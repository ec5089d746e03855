"""The commands of the main job, a file each or a few that belong together."""
