"""Reports of studies: figures, tables, and what became of the paper's claims."""

from banditree.studies.reports.writing import regret_table, summary, write_report

__all__ = ["regret_table", "summary", "write_report"]
