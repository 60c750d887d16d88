"""The languages of the server: their names, and the detection of the language of a text."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from copy import copy
from functools import cache, cached_property

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from rnnsearch.serve.protocol import Detected

log = logging.getLogger("rnnsearch.serve")

NAMES = {
    "cs": "Czech", "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French", "it": "Italian",
    "ja": "Japanese", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish",
    "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip
"""The names of languages; all other languages are called by their codes."""
_CODES = (
    "aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul bi:bis "
    "bm:bam bn:ben bo:bod br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces cu:chu cv:chv cy:cym da:dan de:deu "
    "dv:div dz:dzo ee:ewe el:ell en:eng eo:epo es:spa et:est eu:eus fa:fas ff:ful fi:fin fj:fij fo:fao fr:fra fy:fry "
    "ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye hz:her ia:ina "
    "id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl it:ita iu:iku ja:jpn jv:jav ka:kat kg:kon ki:kik kj:kua kk:kaz "
    "kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao "
    "lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri mk:mkd ml:mal mn:mon mr:mar ms:msa mt:mlt my:mya na:nau nb:nob nd:nde "
    "ne:nep ng:ndo nl:nld nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol "
    "ps:pus pt:por qu:que rm:roh rn:run ro:ron ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag si:sin sk:slk sl:slv "
    "sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk "
    "tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln "
    "wo:wol xh:xho yi:yid yo:yor za:zha zh:zho zu:zul "
)
ALPHA_3 = dict(pair.split(":") for pair in _CODES.split())
"""The codes of ISO 639-1, of two letters, and those of ISO 639-3 for the same languages, of three."""
MOST_CHARACTERS = 4000
"""The number of characters, at the beginning of a text, from which its language is detected."""
UNSURE = 60.0
"""A text of a list whose language has less confidence than this, in percent, takes the language of the whole list."""
_ALPHA_2 = {three: two for two, three in ALPHA_3.items()}
_MARKUP = re.compile(r"(?is)<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<[a-z/!?][^>]*(?:>|\Z)|&#?\w+;")


_LOADING = threading.Lock()


def served_code(language: str, served: Sequence[str]) -> str:
    """Return the code of the served language that a client means by `language`.

    `EN`, `en-US`, `en_GB` and `eng` mean `en` if that alone is served. A code that means none of them is returned unchanged.
    """
    if language in served:
        return language
    of_code = {code.casefold(): code for code in served}
    whole = language.casefold().replace("_", "-")
    first = whole.split("-")[0]
    return of_code.get(whole) or of_code.get(first) or of_code.get(_ALPHA_2.get(first, first)) or language


def three_letters(language: str) -> str:
    """Return the code of a language in ISO 639-3, without its region; the code itself if it has none there."""
    return ALPHA_3.get(re.split("[-_]", language)[0].lower(), language)


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


class Detector:
    """Detects the language of a text, among some languages, from its letters. Its methods may be called in any thread."""

    def __init__(self, languages: Sequence[str]) -> None:
        """Take languages by their codes, of which only the part before a hyphen counts, as in `pt-BR`."""
        self._languages = {re.split("[-_]", language)[0].lower(): language for language in languages}
        self._clear = 1 < len(self._languages) == len(languages)

    @property
    def able(self) -> bool:
        """Whether languages can be detected: there are several, all of them known. The first call takes a second."""
        return self._among is not None

    @cached_property
    def _among(self) -> LanguageIdentifier | None:
        if not self._clear:
            return None
        try:
            with _LOADING:
                among = copy(_identifier())
            among.set_languages(list(self._languages))
            return among
        except ValueError:
            log.warning("%s: not all of these languages can be detected, so none is", ", ".join(self._languages.values()))
        except OSError as error:  # it unpacks its model into the folder for temporary files
            log.warning("languages cannot be detected: %s", error)
        return None

    def ranked(self, text: str) -> list[Detected]:
        """Return all languages, the most probable first, for a text without markup, of which only the beginning counts."""
        assert self._among is not None
        text = text[:MOST_CHARACTERS].lower()
        if not any(map(str.isalpha, text)):
            share = round(100 / len(self._languages), 1)
            return [Detected(language=language, confidence=share) for language in self._languages.values()]
        ranks = self._among.rank(f" {text} ")
        return [Detected(language=self._languages[label], confidence=round(100 * share, 1)) for label, share in ranks]

    def ranked_each(self, texts: Sequence[str]) -> list[list[Detected]]:
        """Return all languages, ranked, for each text of a list; texts of unclear language take the ranking of the list."""
        rankings = [self.ranked(text) for text in texts]
        if len(texts) > 1 and any(ranked[0].confidence < UNSURE for ranked in rankings):
            share = max(100, MOST_CHARACTERS // len(texts))
            whole = self.ranked("\n".join(text[:share] for text in texts))
            rankings = [whole if ranked[0].confidence < UNSURE else ranked for ranked in rankings]
        return rankings


def without_markup(text: str) -> str:
    """Return the beginning of an HTML text without its markup, for the detection of its language."""
    return _MARKUP.sub(" ", text[: 10 * MOST_CHARACTERS])
