"""The parts of the basal-ganglia gate: objectives and their budgets, leases on the body's parts."""
