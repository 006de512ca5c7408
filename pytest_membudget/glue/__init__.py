"""The only ring that knows pytest: options, markers, hooks, fixtures."""
