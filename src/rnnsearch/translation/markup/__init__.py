"""HTML as sentences to translate, and translations with the markup of their sentences.

A document is cut into tokens (`tokens`), and the tokens are grouped into pieces of running text and breaks (`pieces`). Text
that is not translated is copied without any repair, so a fragment is as valid an input as a document. Running text is the
text between two breaks. Its sentences are translated (`running_text`), and each of its elements is put around the
translations of its own words (`stretch`).

A parser finds the same elements, attributes and comments in the translation as in the document. The time is linear in the
length of any input. XML, and text with the tags of translation tools, are converted to HTML and back (`tagged`), and so is
plain text with marks of Markdown (`marked`). A message with variants has the sentences of all of them (`variants`).
"""

from rnnsearch.translation.markup.document import Markup
from rnnsearch.translation.markup.marked import MarkedText, read_text
from rnnsearch.translation.markup.running_text import Aligned
from rnnsearch.translation.markup.tagged import Tagged, has_tags
from rnnsearch.translation.markup.variants import Variants

__all__ = ["Aligned", "MarkedText", "Markup", "Tagged", "Variants", "has_tags", "read_text"]
