"""Texts of documents for the page to show: some would do harm in a page that took them for markup."""

from __future__ import annotations

WRAPPED = "The judge in the\ncourt. A ship in\tthe harbour. The judge in the court."
HOSTILE = {
    "script": "<script>document.title = 'harmed'</script>",
    "image": "<img src=x onerror=\"document.title = 'harmed'\">",
    "frame": "<iframe srcdoc=\"<script>parent.document.title = 'harmed'</script>\"></iframe>",
    "link": '<a href="javascript:document.title = 1">a ship</a>',
    "entity": "&lt;b&gt; stays &amp; is shown",
    "template": "${document.title = 'harmed'} {{ship}} <%= ship %>",
    "override": "ship \u202egnp.exe\u202c harbour",
    "arabic": "سفينة في العاصفة ship",
    "long": "w" * 10_000,
    "control": "a\u0007 bell and a \ufeff mark",
}
