"""Your own questions on your own index: are their answers found, and what do hits quote?"""
