"""Run all experiments of the papers, and write the report with the results beside the published ones."""
