"""What both compilers share: assembly, columns, expressions and conditions."""
