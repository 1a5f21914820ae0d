"""A Zotero data folder made by script: the tables of Zotero 7's schema that hold a library's works."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT, filesEditable INT);
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL,
    dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, dateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    libraryID INT NOT NULL, key TEXT NOT NULL, version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0,
    UNIQUE (libraryID, key));
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID INT, PRIMARY KEY (itemID, fieldID));
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL DEFAULT 1,
    orderIndex INT NOT NULL DEFAULT 0);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT,
    charsetID INT, path TEXT, syncState INT DEFAULT 0, storageModTime INT, storageHash TEXT);
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags (itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL, PRIMARY KEY (itemID, tagID));
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL, parentCollectionID INT,
    libraryID INT NOT NULL, key TEXT NOT NULL);
CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL, orderIndex INT NOT NULL DEFAULT 0);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
CREATE TABLE deletedCollections (collectionID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
INSERT INTO libraries VALUES (1, 'user', 1, 1), (2, 'group', 1, 1), (3, 'feed', 0, 0);
INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'editor');
"""
_TYPES = ("journalArticle", "conferencePaper", "book", "attachment", "note", "annotation")


class ZoteroLibrary:
    """Written as Zotero writes it: works with fields, creators, tags, collections and attachments in `storage/`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._at = 0
        with self._open() as connection:
            connection.executescript(_SCHEMA)
            connection.executemany("INSERT INTO itemTypes (itemTypeID, typeName) VALUES (?, ?)", enumerate(_TYPES))

    def _open(self) -> Any:
        connection = sqlite3.connect(self.folder / "zotero.sqlite", isolation_level=None)
        return closing(connection)

    def add(
        self,
        key: str,
        authors: tuple[tuple[str, str], ...] = (),
        tags: tuple[str, ...] = (),
        shelf: str = "",
        file: Path | None = None,
        library: int = 1,
        **fields: str,
    ) -> None:
        """A journal article; `shelf` is the path of its collection."""
        with self._open() as connection:
            item = self._item(connection, "journalArticle", key, library)
            for order, (given, family) in enumerate(authors):
                creator = connection.execute(
                    "INSERT INTO creators (firstName, lastName, fieldMode) VALUES (?, ?, 0)", (given, family)
                ).lastrowid
                connection.execute("INSERT INTO itemCreators VALUES (?, ?, 1, ?)", (item, creator, order))
            for tag in tags:
                connection.execute("INSERT OR IGNORE INTO tags (name) VALUES (?)", (tag,))
                connection.execute("INSERT INTO itemTags SELECT ?, tagID, 0 FROM tags WHERE name = ?", (item, tag))
            if shelf:
                connection.execute(
                    "INSERT INTO collectionItems VALUES (?, ?, 0)", (self._shelf(connection, shelf), item)
                )
            if file is not None:
                attached = self._item(connection, "attachment", f"F{key}", library)
                place = self.folder / "storage" / f"F{key}"
                place.mkdir(parents=True, exist_ok=True)
                (place / file.name).write_bytes(file.read_bytes())
                values = (attached, item, 1, "application/pdf", f"storage:{file.name}")
                connection.execute(
                    "INSERT INTO itemAttachments (itemID, parentItemID, linkMode, contentType, path) "
                    "VALUES (?, ?, ?, ?, ?)",
                    values,
                )
            note = self._item(connection, "note", f"N{key}", library)
            connection.execute("INSERT INTO itemNotes VALUES (?, ?, 'my secret note', '')", (note, item))
        self.edit(key, **fields)

    def edit(self, key: str, **fields: str) -> None:
        with self._open() as connection:
            (item,) = connection.execute("SELECT itemID FROM items WHERE key = ?", (key,)).fetchone()
            for name, value in fields.items():
                if not connection.execute("SELECT 1 FROM fields WHERE fieldName = ?", (name,)).fetchone():
                    connection.execute("INSERT INTO fields (fieldName) VALUES (?)", (name,))
                connection.execute("INSERT OR IGNORE INTO itemDataValues (value) VALUES (?)", (value,))
                connection.execute(
                    "INSERT OR REPLACE INTO itemData SELECT ?, fieldID, valueID FROM fields, itemDataValues "
                    "WHERE fieldName = ? AND value = ?",
                    (item, name, value),
                )

    def retag(self, key: str, tag: str) -> None:
        with self._open() as connection:
            connection.execute("INSERT OR IGNORE INTO tags (name) VALUES (?)", (tag,))
            connection.execute(
                "INSERT OR IGNORE INTO itemTags SELECT itemID, tagID, 0 FROM items, tags WHERE key = ? AND name = ?",
                (key, tag),
            )

    def link(self, key: str, path: str) -> None:
        """An attachment that lies somewhere else."""
        with self._open() as connection:
            (item,) = connection.execute("SELECT itemID FROM items WHERE key = ?", (key,)).fetchone()
            attached = self._item(connection, "attachment", f"L{key}", 1)
            connection.execute(
                "INSERT INTO itemAttachments (itemID, parentItemID, linkMode, path) VALUES (?, ?, 2, ?)",
                (attached, item, path),
            )

    def alone(self, key: str, file: Path, title: str = "") -> None:
        """A file that belongs to no work."""
        with self._open() as connection:
            item = self._item(connection, "attachment", key, 1)
            place = self.folder / "storage" / key
            place.mkdir(parents=True)
            (place / file.name).write_bytes(file.read_bytes())
            connection.execute(
                "INSERT INTO itemAttachments (itemID, linkMode, path) VALUES (?, 0, ?)", (item, f"storage:{file.name}")
            )
        self.edit(key, **({"title": title} if title else {}))

    def bin(self, key: str) -> None:
        with self._open() as connection:
            connection.execute("INSERT INTO deletedItems (itemID) SELECT itemID FROM items WHERE key = ?", (key,))

    def _item(self, connection: sqlite3.Connection, kind: str, key: str, library: int) -> int:
        cursor = connection.execute(
            "INSERT INTO items (itemTypeID, libraryID, key) VALUES (?, ?, ?)", (_TYPES.index(kind), library, key)
        )
        return int(cursor.lastrowid or 0)

    def _shelf(self, connection: sqlite3.Connection, path: str) -> int:
        parent: int | None = None
        for name in path.split("/"):
            query = "SELECT collectionID FROM collections WHERE collectionName = ? AND parentCollectionID IS ?"
            found = connection.execute(query, (name, parent)).fetchone()
            self._at += 1
            insert = "INSERT INTO collections (collectionName, parentCollectionID, libraryID, key) VALUES (?, ?, 1, ?)"
            parent = found[0] if found else connection.execute(insert, (name, parent, f"C{self._at}")).lastrowid
        return int(parent or 0)
