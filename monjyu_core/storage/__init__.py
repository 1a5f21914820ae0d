"""What lies in a data folder and how it is read and written: folders, parts, snapshots, the state store, the tables."""
