"""Models without weights here: chat servers, programs, files of translations."""
