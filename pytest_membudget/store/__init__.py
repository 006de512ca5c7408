"""Files and machine facts: what outlives a run, and what makes two runs comparable."""
