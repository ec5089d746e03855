"""The interactive search on a terminal: hits as you type, and the selected hit in its context.

prompt_toolkit draws the screen and is imported only here; texts are those of
`semsearch.cli.terminal`, by rich.
"""
