"""The demonstration: sample records of every format, through the whole road to Spark tables, and the tables shown."""
