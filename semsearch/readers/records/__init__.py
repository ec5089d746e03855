"""Files of records: notebooks, tables, lines of JSON, mail."""
