"""How filters are carried out: values and paths that match, and the SQL that asks for them."""
