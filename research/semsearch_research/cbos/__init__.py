"""Word vectors trained to predict a sentence from its neighbours: Yuan and Zhang."""
