"""Write what an index holds to files of other programs: documents, passages or sentences, with vectors on demand."""
