"""Where a stranger's link may lead: shared by whoever follows one."""
