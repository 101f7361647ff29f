"""Files to tables without Spark, and what is common to both engines."""
