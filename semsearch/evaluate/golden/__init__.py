"""One's own questions, each with what answers it, asked again and again: is it found, and was it before?"""
