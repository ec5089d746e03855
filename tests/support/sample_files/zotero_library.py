"""A small library of Zotero, as SQL: an item with a file, notes and annotations, and notes in the bin."""

from __future__ import annotations

TABLES = """
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT, key TEXT);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID INT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE itemCreators (itemID INT, creatorID INT, creatorTypeID INT, orderIndex INT);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE itemTags (itemID INT, tagID INT, type INT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT, path TEXT);
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
CREATE TABLE itemAnnotations (itemID INTEGER PRIMARY KEY, parentItemID INT, type INT, text TEXT, comment TEXT,
    pageLabel TEXT, sortIndex TEXT);
INSERT INTO fields VALUES (1, 'title'), (2, 'date'), (3, 'publicationTitle'), (4, 'abstractNote'), (5, 'DOI');
INSERT INTO items VALUES (1, 2, 'ITEMKEY1'), (2, 3, 'PAPERKEY'), (3, 1, 'NOTEKEY1'), (4, 1, 'NOTEKEY2'),
    (5, 1, 'BINNEDKE'), (6, 4, 'MARKKEY1'), (7, 4, 'MARKKEY2'), (8, 1, 'NOTEKEY3');
INSERT INTO deletedItems VALUES (5);
INSERT INTO itemDataValues VALUES (1, 'How tides rise'), (2, '2015-03-00 March 2015'), (3, 'Journal of Tides'),
    (4, 'We measure tides.');
INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3), (1, 4, 4);
INSERT INTO creators VALUES (1, 'Ann', 'Lee', 0), (2, NULL, 'Tide Office', 1);
INSERT INTO itemCreators VALUES (1, 2, 1, 1), (1, 1, 1, 0);
INSERT INTO tags VALUES (1, 'sea'), (2, 'moon');
INSERT INTO itemTags VALUES (1, 1, 0), (1, 2, 0);
INSERT INTO itemAttachments VALUES (2, 1, 0, 'application/pdf', 'storage:paper.txt');
INSERT INTO itemNotes VALUES (3, 1, '<div><h1>Doubts</h1><p>The <b>gauge</b> was wet &amp; old.</p></div>', ''),
    (4, NULL, '<p>Buy sextants.</p>', ''), (5, 1, '<p>Thrown away.</p>', ''), (8, 5, '<p>Of the same.</p>', '');
INSERT INTO itemAnnotations VALUES (6, 2, 1, 'rises twice a day', 'a < b?', '12', '1'),
    (7, 2, 3, NULL, NULL, '13', '2');
"""
