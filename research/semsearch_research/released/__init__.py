"""What the papers' released programs do and the papers do not say, and what each of these choices costs."""
