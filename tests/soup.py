"""Hostile HTML documents, drawn at random, and what a parser finds in them and in their translations."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from xml.etree import ElementTree

import html5lib

from rnnsearch.errors import RnnsearchError
from rnnsearch.translation.markup import Markup

INLINE = (
    "a", "b", "i", "em", "code", "span", "sub", "sup", "font", "s", "u", "abbr", "kbd", "label", "q", "tt", "var", "big",
)  # fmt: skip
BLOCKS = (
    "p", "div", "li", "ul", "table", "tr", "td", "th", "tbody", "caption", "colgroup", "button", "h1", "form", "option",
    "select", "optgroup", "dl", "dd", "dt", "object", "applet", "marquee", "nobr", "ruby", "rt", "body", "html", "head",
    "template", "noscript", "frameset", "fieldset", "center", "listing", "address", "article", "details", "pre",
)  # fmt: skip
RAW = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")
FOREIGN = ("svg", "math", "desc", "foreignObject", "mi", "mo", "mtext", "annotation-xml", "g", "path", "mrow", "circle")
VOID = ("br", "img", "input", "hr", "wbr", "meta", "link", "base", "col", "embed", "param", "image", "frame", "keygen")
TEXTS = (
    "The old man", "Hello", " sings. ", "a", " ", "\n", "Two men!", " &amp; ", "&lt;img src=y&gt;", "&nbsp;",
    "&copy", "&notin",
    "&#x3c;b", "\0", "12", "x < y", "a<", "]]>", "-->", "\"", "'", ">", "=", "é", "the house.  It is", "\r\n", "\f", "K",
)  # fmt: skip
ATTRIBUTES = (
    "", "", "", " x", " id=a", " ID='A b'", ' title="The <b> house"', " alt=man", " title='say \"no\"'", " a=1 a=2",
    " /", "/",
    " onclick=\"x('>')\"", " x='</b>'", ' y="<!--"', " =x", " a=b/", " translate=no", " TRANSLATE='No'",
    " class=\"\"", " a = b",
    " t=\"</noscript><i>\"", " t='</script><i>'", " t=\"</style><i>\"", " t='</title>'", ' t="]]><i>"', " \0=\0",
    ' a="x"b=\'y\'',
    " placeholder=Name", " aria-label='A &amp; b&quot;'", " href=x?a=1&copy=2", " encoding=text/html", " color=red",
)  # fmt: skip
ODD = (
    "<!-- a > b -->", "<!-- The man --!>", "<!-->", "<!--->", "<!---->", "<!-- <!-- -->", "<!--a--!b-->", "<!-",
    "<!x The man>",
    "<?php a > b ?>", "</>", "</ x>", "</3>", "<3", "<![CDATA[ The <b>man</b> ]]>", "<![CDATA[x]]>", "<![cdata[ > ]]>",
    "<!DOCTYPE html>", "<!doctype \"a>b\">", "<a b='", "<b x=\"", "<b\0", "<!-- a>", "<p <b>", "<p/<b>", "<svg/>", "<math/>",
    "<b/>", "<script><!-- <script> </script> <i> --></script>", "<script>'<!--'</script>",
    "<style><![CDATA[a > b]]></style>",
    "<title>A <b>man</b></title>", "<textarea>\n</b></textarea>", "</script x='>'>", "</p x='<i>'>", "</br>",
    "</p>", "</form>",
    "<svg><title>a</title><style>b{}</style></svg>", "<svg><p>x</svg>", "<math><mi>x</mi><mo>=</mo></math>", "<!-- b", "<",
    "<\u0130>", "<lin\u212a>", "</\u017fcript>", "<a href=x><b>The red</b> house</a>", "<code>f(&amp;x)</code>",
    "<select><b>",
    "<noscript><a t=\"</noscript><i>\">", "<table>x<b>y", "<a><p>", "<b><p>", "<isindex>", "<img src=x onerror=alert(1)>",
)  # fmt: skip


def document(random: Random) -> str:
    """A document: soup of everything, or of little."""
    kinds = [[INLINE], [INLINE, BLOCKS], [INLINE, BLOCKS, RAW], [INLINE, FOREIGN], [INLINE, BLOCKS, FOREIGN, RAW, VOID]]
    names = [name for kind in random.choice(kinds) for name in random.sample(kind, min(len(kind), random.choice((2, 4, 9))))]
    odd = random.choice((0, 0, 0.05, 0.2))
    nested = random.random() < 0.5
    parts: list[str] = []
    opened: list[str] = []
    for _ in range(random.choice((3, 8, 20, 40))):
        draw = random.random()
        name = random.choice(names)
        if draw < odd:
            parts.append(random.choice(ODD))
        elif draw < 0.45:
            parts.append(random.choice(TEXTS))
        elif draw < 0.55:
            parts.append(f"<{random.choice(VOID)}{random.choice(ATTRIBUTES)}>")
        elif draw < 0.8 or (nested and not opened):
            opened.append(name)
            name = name.upper() if random.random() < 0.1 else name
            parts.append(f"<{name}{random.choice(ATTRIBUTES)}>")
        else:
            parts.append(f"</{opened.pop() if nested else name}>")
    return "".join(parts) + "".join(f"</{name}>" for name in reversed(opened if nested else []))


def paragraph(random: Random, texts: Sequence[str]) -> str:
    """A well-formed paragraph of some of these texts, with markup that has no words of its own."""
    words = " ".join(random.sample(texts, random.randint(1, min(3, len(texts))))).split()
    parts = [html.escape(word, quote=False) for word in words]
    for _ in range(random.randint(0, 4)):
        first, last = sorted(random.choices(range(len(words)), k=2))
        name = random.choice(("b", "i", "em", "span", "u"))
        if all(part.count("<") == part.count("</") * 2 for part in (parts[first], parts[last])):
            parts[first], parts[last] = f"<{name}>{parts[first]}", f"{parts[last]}</{name}>"
    parts.insert(random.randint(0, len(parts)), random.choice(("", "<img src=a>", "<!-- c -->", "<i></i>", "<wbr>")))
    return f"<p>{' '.join(parts)}</p>"


@dataclass(frozen=True)
class Invented:
    """A translation of words that are separated by spaces."""

    text: str
    tokens: list[str]
    source_tokens: list[str]
    links: frozenset[tuple[int, int]] | None


def invented(random: Random, sentence: str) -> Invented:
    """A translation of other words in another order, each with some links."""
    source = sentence.split()
    words = [random.choice((word.upper(), "<i>", "&lt;", "l'", "mot", "--!>", '"', "]]>", ".")) for word in source]
    random.shuffle(words)
    words = words[: random.randint(0, len(words))] if random.random() < 0.2 else words
    pairs = [
        (random.randrange(len(source)), target) for target in range(len(words)) for _ in range(random.choice((0, 1, 1, 3)))
    ]
    glue = random.choice((" ", " ", "", "\xa0"))
    return Invented(glue.join(words), words, [*source, ""], frozenset(pairs) if random.random() < 0.9 else None)


def contents(document: str, leave_out: Sequence[str] = ()) -> Counter[object]:
    """The elements, each with its attributes, and the comments that a parser finds; some attributes may be left out."""
    found: Counter[object] = Counter()
    tree = _parsed(document)
    for node in tree.iter():
        if isinstance(node.tag, str):
            found[node.tag, tuple(sorted((str(k), v) for k, v in node.attrib.items() if k not in leave_out))] += 1
        else:
            found["comment", node.text] += 1
    found.update(("outside", node.text) for node in tree if not isinstance(node.tag, str))
    return found


def _parsed(document: str) -> ElementTree.Element:
    tree: ElementTree.Element = html5lib.HTMLParser(html5lib.getTreeBuilder("etree", fullTree=True)).parse(document)
    return tree


def text_of(document: str) -> str:
    """The text that a parser finds, but for comments."""
    tree = _parsed(document)
    for node in tree.iter():
        node.text = node.text if isinstance(node.tag, str) else None
    return "".join(tree.itertext())


def complaint(document: str, random: Random, attributes: bool = False) -> str | None:
    """What is wrong with an invented translation of a document."""
    try:
        markup = Markup(document, "en", attributes=attributes)
    except RnnsearchError:
        return None
    joined = markup.joined([invented(random, sentence) for sentence in markup.sentences])
    left_out = ("alt", "aria-label", "placeholder", "title") if attributes else ()
    try:
        before = contents(document, left_out)
    except Exception:  # the parser has faults of its own
        return None
    lost, gained = before - contents(joined, left_out), contents(joined, left_out) - before
    return f"lost {dict(lost)}, gained {dict(gained)}: {document!r} became {joined!r}" if lost or gained else None
