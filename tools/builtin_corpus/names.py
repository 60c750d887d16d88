"""Names of persons and places: a short head that everybody knows, and a tail that nobody has heard of.

Rare names are put together from syllables, so there are always some beyond any shortlist, and they are the
same on both sides. A rare person has a first name or a title beside the surname, so that the sentence says
whether to make French agree with a man or a woman.
"""

from __future__ import annotations

from random import Random

MEN = (
    "Paul Pierre Jean Louis Thomas Marc Lucas Antoine David Michel Hugo Simon Daniel Victor Julien Robert "
    "Martin Alain Nicolas Philippe Arthur Denis Oscar Vincent Samuel Olivier Charles Léon Gabriel Bruno"
)

WOMEN = (
    "Marie Anne Julie Sophie Claire Alice Emma Camille Laura Lucie Sarah Jeanne Nathalie Hélène Isabelle "
    "Charlotte Catherine Louise Élise Eva Mathilde Nadia Agnès Monique Irène Juliette Diane Odile Rosa Valérie"
)

# Towns, English=French where they differ. All take `à`.
TOWNS = (
    "Paris London=Londres Berlin Rome Lyon Madrid Brussels=Bruxelles Geneva=Genève Marseille "
    "Vienna=Vienne Boston Bordeaux Moscow=Moscou Lisbon=Lisbonne Amsterdam Barcelona=Barcelone Toulouse "
    "Venice=Venise Athens=Athènes Prague Oslo Nice Warsaw=Varsovie Florence Montréal Chicago Lille Dublin "
    "Naples Edinburgh=Édimbourg Tokyo Copenhagen=Copenhague Nantes Strasbourg Seville=Séville"
)

# Countries: English=French, and the French for "in" and "to": `en`, `au` or `aux`; "from" follows from it.
COUNTRIES = (
    "France=France en; Germany=Allemagne en; Italy=Italie en; Spain=Espagne en; England=Angleterre en; "
    "Japan=Japon au; China=Chine en; Canada=Canada au; the United States=États-Unis aux; Russia=Russie en; "
    "Portugal=Portugal au; Belgium=Belgique en; Brazil=Brésil au; Switzerland=Suisse en; Greece=Grèce en; "
    "Mexico=Mexique au; India=Inde en; Poland=Pologne en; the Netherlands=Pays-Bas aux; Egypt=Égypte en; "
    "Morocco=Maroc au; Norway=Norvège en; Peru=Pérou au; Turkey=Turquie en"
)

_ONSETS = "b br c cl d dr f fl g gr k kl l m n p pr r s st t tr v z ch"
_VOWELS = "a e i o u a e o ou ai"
_CODAS = "n r l m nd rt ss x ck nt lb rn"
_SURNAME_ENDINGS = "ard eau ier in on ov ski elli er is otte ane ez"
_TOWN_ENDINGS = "ville court bourg mont ac igny berg stad ton ona"


def surname(rng: Random) -> str:
    """A rare surname."""
    return _rare(rng, _SURNAME_ENDINGS)


def rare_town(rng: Random) -> str:
    """A rare town."""
    return _rare(rng, _TOWN_ENDINGS)


def _rare(rng: Random, endings: str) -> str:
    """Two syllables and an ending, some hundred thousand of them, all with a consonant in front."""

    def draw(parts: str) -> str:
        return rng.choice(parts.split())

    stem = draw(_ONSETS) + draw(_VOWELS) + draw(_CODAS)
    return (stem + (draw(_VOWELS) if rng.random() < 0.5 else "") + draw(endings)).capitalize()
