"""Files of all formats: sound, with places, damaged, hostile."""
