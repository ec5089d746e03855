"""The tools that a model may use: each declared once, with what it takes, what it answers and what does it."""
