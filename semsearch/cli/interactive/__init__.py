"""The interactive search on a terminal: hits as one types, and the place of the chosen one in its context.

Drawn by prompt_toolkit, which is optional and imported only here; texts are those of `semsearch.cli.terminal`,
by rich.
"""
