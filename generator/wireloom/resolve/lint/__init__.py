"""What is odd and would work: conditions that always hold, cases that never come, values that never fit."""
