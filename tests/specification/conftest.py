"""What the tests below share stands on the path for all of them: ``sheets_written``."""
