"""An ingest job: its checks, its tasks, its limits, and its reports."""
