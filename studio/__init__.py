"""What people see: the page, the public endpoints and the commands. The work is done by `engines`."""
