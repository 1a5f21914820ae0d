"""Model calls: every one goes through `gateway`, so that none is lost, paid twice, unlimited or invisible."""
