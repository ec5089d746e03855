"""Archives of XML with something in each part that a reader looks at, as small as can be: their members, by format."""

from __future__ import annotations

from collections.abc import Mapping

_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
_P = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:r="{_OFFICE}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
_S = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{_OFFICE}"'
_T = " ".join(f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"' for one in ("office", "text", "table"))
_T += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
_M = 'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
_CORE = (
    f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>Tides</dc:title><dc:creator>Ann</dc:creator>'
    "<cp:keywords>sea</cp:keywords><dcterms:created>2024-05-01</dcterms:created></cp:coreProperties>"
)


def _relations(*of: tuple[str, str]) -> str:
    each = (f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{path}"/>' for n, (kind, path) in enumerate(of))
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(each)}</Relationships>'


def _start(main: str) -> str:
    return _relations(("officeDocument", main), ("core-properties", "docProps/core.xml"))


_DOCX = {
    "word/document.xml": f"<w:document {_W}><w:body>"
    '<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Tide</w:t></w:r></w:p>'
    '<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Moon</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>The sea moves.</w:t><w:tab/><w:br/><w:lastRenderedPageBreak/><w:t>It rises.</w:t></w:r>"
    "<w:del><w:r><w:t>Gone.</w:t></w:r></w:del><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>A box."
    "</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback/></mc:AlternateContent></w:p>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Köln</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl></w:tc>"
    "<w:tc><w:p><w:r><w:t>3 m</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:sdt><w:sdtPr/><w:p/></w:sdt>"
    "</w:body></w:document>",
    "word/styles.xml": f'<w:styles {_W}><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style><w:style w:styleId="X"><w:basedOn w:val="H1"/></w:style>'
    '<w:style w:styleId="Y"><w:basedOn w:val="X"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style></w:styles>',
    "word/footnotes.xml": f'<w:footnotes {_W}><w:footnote w:type="separator"/><w:footnote><w:p><w:r><w:t>A note.</w:t>'
    "</w:r></w:p></w:footnote></w:footnotes>",
    "word/comments.xml": f"<w:comments {_W}><w:comment><w:p><w:r><w:t>Why?</w:t></w:r></w:p></w:comment></w:comments>",
    "word/_rels/document.xml.rels": _relations(
        ("styles", "styles.xml"), ("footnotes", "footnotes.xml"), ("comments", "comments.xml")
    ),
    "_rels/.rels": _start("word/document.xml"),
    "docProps/core.xml": _CORE,
}
_PPTX = {
    "ppt/slide1.xml": f"<p:sld {_P}><p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><a:p><a:r><a:t>Tide"
    "</a:t></a:r></a:p></p:sp><p:grpSp><p:sp><a:p><a:t>The sea moves.</a:t><a:br/><a:tab/></a:p></p:sp></p:grpSp>"
    "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:t>Köln</a:t></a:p></a:tc><a:tc><a:p/></a:tc></a:tr></a:tbl>"
    "</p:graphicFrame><mc:Fallback><p:sp/></mc:Fallback></p:sld>",
    "ppt/notes1.xml": f"<p:notes {_P}><p:sp><p:nvSpPr><p:nvPr><p:ph type='sldNum'/></p:nvPr></p:nvSpPr></p:sp>"
    "<p:sp><a:p><a:t>Slowly.</a:t></a:p></p:sp></p:notes>",
    "ppt/_rels/slide1.xml.rels": _relations(("notesSlide", "notes1.xml")),
    "ppt/talk.xml": f'<p:presentation {_P}><p:sldIdLst><p:sldId r:id="r0"/><p:sldId r:id="r1"/></p:sldIdLst>'
    "</p:presentation>",
    "ppt/_rels/talk.xml.rels": _relations(("slide", "slide1.xml"), ("slide", "gone.xml")),
    "_rels/.rels": _start("ppt/talk.xml"),
    "docProps/core.xml": _CORE,
}
_XLSX = {
    "xl/sheet1.xml": f'<worksheet {_S}><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c>'
    '<c r="B1" t="s"><v>1</v></c></row>'
    '<row r="2"><c r="A2" t="inlineStr"><is><t>Köln</t></is></c><c><v>3.5</v></c><c r="AA2" s="1"><v>45000.5</v></c>'
    '<c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="str"><f>A1</f><v>made</v></c></row></sheetData></worksheet>',
    "xl/strings.xml": f"<sst {_S}><si><t>Place</t></si><si><r><t>The sea </t></r><r><t>moves twice a day, and so on."
    "</t></r><rPh><t>x</t></rPh></si></sst>",
    "xl/styles.xml": f'<styleSheet {_S}><numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="20"/></cellXfs></styleSheet>',
    "xl/book.xml": f'<workbook {_S}><workbookPr date1904="0"/><sheets><sheet name="Tides" r:id="r0"/></sheets>'
    "</workbook>",
    "xl/_rels/book.xml.rels": _relations(
        ("worksheet", "sheet1.xml"), ("sharedStrings", "strings.xml"), ("styles", "styles.xml")
    ),
    "_rels/.rels": _start("xl/book.xml"),
    "docProps/core.xml": _CORE,
}
_ODT = {
    "content.xml": f"<office:document-content {_T}><office:body><office:text>"
    '<text:h text:outline-level="1">Tide</text:h><text:p>The sea<text:s text:c="3"/>moves.<text:tab/><text:line-break/>'
    "<text:soft-page-break/>It rises.<text:note text:note-class='endnote'><text:note-citation>1</text:note-citation>"
    "<text:note-body><text:p>A note.</text:p></text:note-body></text:note><office:annotation><text:p>Why?</text:p>"
    "</office:annotation><draw:frame><draw:text-box><text:p>A box.</text:p></draw:text-box></draw:frame></text:p>"
    "<table:table><table:table-row><table:table-cell><text:p>Köln</text:p></table:table-cell><table:table-cell/>"
    "</table:table-row></table:table><text:list><text:list-item><text:p>One.</text:p></text:list-item></text:list>"
    "<text:tracked-changes/><text:section><text:p>More.</text:p></text:section></office:text></office:body>"
    "</office:document-content>",
    "meta.xml": f"<office:document-meta {_T} {_M}><office:meta><dc:title>Tides</dc:title><meta:keyword>sea"
    "</meta:keyword><meta:initial-creator>Ann</meta:initial-creator></office:meta></office:document-meta>",
    "META-INF/manifest.xml": '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<m:file-entry m:full-path="content.xml"/></m:manifest>',
    "mimetype": "application/vnd.oasis.opendocument.text",
}
_ODS = {
    "content.xml": f"<office:document-content {_T}><office:body><office:spreadsheet><table:table table:name='Tides'>"
    "<table:table-row><table:table-cell><text:p>Place</text:p></table:table-cell><table:table-cell "
    "table:number-columns-repeated='2'/><table:covered-table-cell><text:p>Note</text:p></table:covered-table-cell>"
    "</table:table-row><table:table-row table:number-rows-repeated='3'/><table:table-row><table:table-cell "
    "office:date-value='2024-05-01'><text:p>1 May</text:p></table:table-cell><table:table-cell><text:p>Köln. The sea "
    "moves.</text:p><office:annotation><text:p>Why?</text:p></office:annotation></table:table-cell></table:table-row>"
    "</table:table></office:spreadsheet></office:body></office:document-content>",
    **{name: _ODT[name] for name in ("meta.xml", "META-INF/manifest.xml")},
    "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
}
_ODP = {
    "content.xml": f"<office:document-content {_T} xmlns:presentation='urn:oasis:names:tc:opendocument:xmlns:"
    "presentation:1.0'><office:body><office:presentation><draw:page><draw:frame presentation:class='title'>"
    "<draw:text-box><text:p>Tide</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box><text:list>"
    "<text:list-item><text:p>The sea moves.</text:p></text:list-item></text:list></draw:text-box><table:table>"
    "<table:table-row><table:table-cell><text:p>Köln</text:p></table:table-cell></table:table-row></table:table>"
    "</draw:frame><draw:custom-shape><text:p>A box.</text:p></draw:custom-shape><presentation:notes><draw:frame>"
    "<draw:text-box><text:p>Slowly.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
    "</office:presentation></office:body></office:document-content>",
    **{name: _ODT[name] for name in ("meta.xml", "META-INF/manifest.xml")},
    "mimetype": "application/vnd.oasis.opendocument.presentation",
}
_EPUB = {
    "one.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Tide</h1><p>The sea moves. <b>It</b> rises.</p>'
    "<table><tr><td>Köln</td><td>3 m</td></tr></table></body></html>",
    "two.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>The moon pulls it.</p></body></html>',
    "nav.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><body><a href="one.xhtml">One</a><a href="two.xhtml#x">Two'
    "</a></body></html>",
    "toc.ncx": '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navPoint><navLabel><text>First</text></navLabel>'
    '<content src="one.xhtml"/></navPoint></ncx>',
    "book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
    "<dc:title>Tides</dc:title><dc:language>en</dc:language></metadata><manifest>"
    '<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/><item id="b" href="two.xhtml" '
    'media-type="text/html"/><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    '<item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
    "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf"/></rootfiles></container>',
    "META-INF/encryption.xml": '<encryption xmlns="http://www.w3.org/2001/04/xmlenc#"><CipherReference URI="font.otf"/>'
    "</encryption>",
}
MEMBERS: Mapping[str, Mapping[str, str]] = {
    "docx": _DOCX,
    "pptx": _PPTX,
    "xlsx": _XLSX,
    "odt": _ODT,
    "ods": _ODS,
    "odp": _ODP,
    "epub": _EPUB,
}
