"""Vectors in PostgreSQL, with pgvector: a table for each segment, in a schema that is the index's own.

postgres://[user@]host[:port]/database[?schema=NAME&timeout=SECONDS&sslmode=MODE]; the password comes from PGPASSWORD or
a file of passwords (PGPASSFILE, ~/.pgpass), as with every client of PostgreSQL.

The driver is asyncpg (Apache-2.0). Compared with pg8000 (BSD-3) it answers a question for the hundred nearest in half
the time and a quarter of the processor time (0.85 to 1.69 ms, 0.12 to 0.50 ms; the same rate of COPY), and has itself
what else would be ours to write: sslmode, files of passwords, cancelling. psycopg is under the LGPL.
"""
