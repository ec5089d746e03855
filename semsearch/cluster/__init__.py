"""Work on the workers of a Dask cluster. The only package that imports Dask, and only when a cluster is used."""
