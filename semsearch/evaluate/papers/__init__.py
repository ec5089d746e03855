"""All experiments of the papers in one go, and the report that says what came out beside what was published."""
