"""French conjugation: regular groups by rule, irregular families by their principal parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

Six = tuple[str, str, str, str, str, str]

_PRESENT_1, _PRESENT_3 = ("e", "es", "e", "ons", "ez", "ent"), ("s", "s", "", "ons", "ez", "ent")
_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
_SUBJUNCTIVE = ("e", "es", "e", "ions", "iez", "ent")

ETRE_VERBS = (
    "aller venir arriver partir entrer rester tomber mourir naître revenir devenir sortir retourner rentrer repartir"
)

# family: the six forms of the present; the stem of the future; the participle. A verb belongs to the family
# whose name is its longest ending, and keeps what comes before it: com-prendre, re-venir.
_FAMILIES = {
    "être": "suis es est sommes êtes sont; ser; été",
    "avoir": "ai as a avons avez ont; aur; eu",
    "aller": "vais vas va allons allez vont; ir; allé",
    "faire": "fais fais fait faisons faites font; fer; fait",
    "pouvoir": "peux peux peut pouvons pouvez peuvent; pourr; pu",
    "vouloir": "veux veux veut voulons voulez veulent; voudr; voulu",
    "savoir": "sais sais sait savons savez savent; saur; su",
    "devoir": "dois dois doit devons devez doivent; devr; dû",
    "cevoir": "çois çois çoit cevons cevez çoivent; cevr; çu",
    "voir": "vois vois voit voyons voyez voient; verr; vu",
    "croire": "crois crois croit croyons croyez croient; croir; cru",
    "boire": "bois bois boit buvons buvez boivent; boir; bu",
    "prendre": "prends prends prend prenons prenez prennent; prendr; pris",
    "mettre": "mets mets met mettons mettez mettent; mettr; mis",
    "battre": "bats bats bat battons battez battent; battr; battu",
    "venir": "viens viens vient venons venez viennent; viendr; venu",
    "tenir": "tiens tiens tient tenons tenez tiennent; tiendr; tenu",
    "partir": "pars pars part partons partez partent; partir; parti",
    "sortir": "sors sors sort sortons sortez sortent; sortir; sorti",
    "dormir": "dors dors dort dormons dormez dorment; dormir; dormi",
    "sentir": "sens sens sent sentons sentez sentent; sentir; senti",
    "mentir": "mens mens ment mentons mentez mentent; mentir; menti",
    "servir": "sers sers sert servons servez servent; servir; servi",
    "courir": "cours cours court courons courez courent; courr; couru",
    "mourir": "meurs meurs meurt mourons mourez meurent; mourr; mort",
    "ouvrir": "ouvre ouvres ouvre ouvrons ouvrez ouvrent; ouvrir; ouvert",
    "ffrir": "ffre ffres ffre ffrons ffrez ffrent; ffrir; ffert",
    "uire": "uis uis uit uisons uisez uisent; uir; uit",
    "aître": "ais ais aît aissons aissez aissent; aîtr; u",
    "naître": "nais nais naît naissons naissez naissent; naîtr; né",
    "connaître": "connais connais connaît connaissons connaissez connaissent; connaîtr; connu",
    "aindre": "ains ains aint aignons aignez aignent; aindr; aint",
    "eindre": "eins eins eint eignons eignez eignent; eindr; eint",
    "oindre": "oins oins oint oignons oignez oignent; oindr; oint",
    "crire": "cris cris crit crivons crivez crivent; crir; crit",
    "lire": "lis lis lit lisons lisez lisent; lir; lu",
    "dire": "dis dis dit disons dites disent; dir; dit",
    "rire": "ris ris rit rions riez rient; rir; ri",
    "suivre": "suis suis suit suivons suivez suivent; suivr; suivi",
    "vivre": "vis vis vit vivons vivez vivent; vivr; vécu",
    "plaire": "plais plais plaît plaisons plaisez plaisent; plair; plu",
    "asseoir": "assieds assieds assied asseyons asseyez asseyent; assiér; assis",
    "envoyer": "envoie envoies envoie envoyons envoyez envoient; enverr; envoyé",
}

# Verbs whose subjunctive is not made from the third person plural of the present.
_SUBJUNCTIVES = {
    "être": "sois sois soit soyons soyez soient",
    "avoir": "aie aies ait ayons ayez aient",
    "aller": "aille ailles aille allions alliez aillent",
    "faire": "fasse fasses fasse fassions fassiez fassent",
    "pouvoir": "puisse puisses puisse puissions puissiez puissent",
    "vouloir": "veuille veuilles veuille voulions vouliez veuillent",
    "savoir": "sache saches sache sachions sachiez sachent",
}

# jeter and appeler double the consonant where acheter and lever take a grave accent.
_DOUBLING = ("appel", "jet")


@dataclass(frozen=True, slots=True)
class Conjugation:
    """The forms of one verb; each tense lists je, tu, il, nous, vous, ils."""

    infinitive: str
    participle: str
    present: Six
    imperfect: Six
    future: Six
    conditional: Six
    subjunctive: Six


@cache
def conjugate(infinitive: str) -> Conjugation:
    """All the forms of a verb, given its infinitive without a reflexive pronoun."""
    family = max((f for f in _FAMILIES if infinitive.endswith(f)), key=len, default=None)
    if family is not None:
        return _irregular(infinitive, infinitive.removesuffix(family), family)
    if infinitive.endswith("er"):
        return _first_group(infinitive)
    stem = infinitive[:-2]
    if infinitive.endswith("ir"):
        present = tuple(stem + ending for ending in ("is", "is", "it", "issons", "issez", "issent"))
        return _complete(infinitive, stem + "i", present, infinitive)
    if infinitive.endswith("re"):
        present = tuple(stem + ending for ending in _PRESENT_3)
        return _complete(infinitive, stem + "u", present, infinitive[:-1])
    raise ValueError(f"no conjugation for {infinitive!r}")


def _six(forms: list[str] | tuple[str, ...]) -> Six:
    je, tu, il, nous, vous, ils = forms
    return je, tu, il, nous, vous, ils


def _complete(
    infinitive: str,
    participle: str,
    present: tuple[str, ...],
    future: str,
    *,
    imperfect: tuple[str, ...] | None = None,
    subjunctive: tuple[str, ...] | None = None,
) -> Conjugation:
    """The other tenses, as they follow from the present and the stem of the future."""
    if imperfect is None:
        imperfect = tuple(present[3].removesuffix("ons") + ending for ending in _IMPERFECT)
    if subjunctive is None:
        strong = present[5].removesuffix("ent")
        made = [strong + ending for ending in _SUBJUNCTIVE]
        made[3:5] = imperfect[3:5]
        subjunctive = tuple(made)
    return Conjugation(
        infinitive=infinitive,
        participle=participle,
        present=_six(present),
        imperfect=_six(imperfect),
        future=_six([future + ending for ending in _FUTURE]),
        conditional=_six([future + ending for ending in _IMPERFECT]),
        subjunctive=_six(subjunctive),
    )


def _irregular(infinitive: str, prefix: str, family: str) -> Conjugation:
    present_text, future, participle = _FAMILIES[family].split("; ")
    present = tuple(prefix + form for form in present_text.split())
    imperfect = tuple("ét" + ending for ending in _IMPERFECT) if family == "être" else None
    subjunctive = tuple(_SUBJUNCTIVES[family].split()) if family in _SUBJUNCTIVES else None
    return _complete(
        infinitive,
        prefix + participle,
        present,
        prefix + future,
        imperfect=imperfect,
        subjunctive=subjunctive,
    )


def _first_group(infinitive: str) -> Conjugation:
    """-er verbs: `strong` is the stem before a silent ending, `soft` the stem before a and o."""
    weak = infinitive[:-2]
    strong, future = weak, infinitive
    if weak.endswith(("ay", "oy", "uy")):
        strong = weak[:-1] + "i"
        future = strong + "er"
    elif weak.endswith(_DOUBLING):
        strong = weak + weak[-1]
        future = strong + "er"
    elif match := re.search(r"e([bcdfghjklmnpqrstvwxz])$", weak):
        strong = weak[:-2] + "è" + match[1]
        future = strong + "er"
    elif match := re.search(r"é([bcdfghjklmnpqrstvwxz]+)$", weak):
        strong = weak[: match.start()] + "è" + match[1]
    soft = weak + "e" if weak.endswith("g") else weak[:-1] + "ç" if weak.endswith("c") else weak
    present = [strong + ending for ending in _PRESENT_1]
    present[3:5] = soft + "ons", weak + "ez"
    imperfect = [soft + ending for ending in _IMPERFECT]
    imperfect[3:5] = weak + "ions", weak + "iez"
    return _complete(infinitive, weak + "é", tuple(present), future, imperfect=tuple(imperfect))
