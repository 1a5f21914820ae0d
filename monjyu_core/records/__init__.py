"""Small JSON records of a collection that people write: corrections, saved questions with their answers, reviews."""
