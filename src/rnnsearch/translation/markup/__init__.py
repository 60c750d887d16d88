"""HTML as sentences to translate, and translations with the markup of their sentences.

A document is cut into tokens (`tokens`), and these into pieces of running text and breaks (`pieces`). Whatever is not
translated stays as it is written: nothing is repaired or completed, and a fragment is as good as a document. Running text
stands between two breaks. Its sentences are translated (`running_text`), and each element in it is put around the words that
were read from its own (`stretch`).

A parser finds the same elements, attributes and comments in the translation as in the document. All this takes linear time,
whatever is given. XML and text with the tags of translation tools are written as HTML for that (`tagged`).
"""

from rnnsearch.translation.markup.document import Markup
from rnnsearch.translation.markup.running_text import Aligned
from rnnsearch.translation.markup.tagged import Tagged, has_tags

__all__ = ["Aligned", "Markup", "Tagged", "has_tags"]
