"""What both compilers make programs of: assembly, columns, expressions and conditions."""
