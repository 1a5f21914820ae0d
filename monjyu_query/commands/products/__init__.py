"""Commands of what is made from answers: checks of drafts, tensions, saved questions, packages."""
