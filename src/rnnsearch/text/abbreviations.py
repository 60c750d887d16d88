"""Abbreviations in capitals that have other letters or other words in another language: GDP and PIB, DNA and ADN.

A model divides an abbreviation into letters, and rarely puts those of the other language together. An abbreviation that is
not in its vocabulary is therefore a span, which is copied or, if it is here, replaced.
"""

from __future__ import annotations

from typing import Literal

_FRENCH_OF_ENGLISH = """
ADHD m TDAH|AI f IA|AIDS m sida|ASD m TSA|ASEAN f ASEAN|ATM m distributeur|BMI m IMC|CAP f PAC|CEO m PDG|CERN m CERN
DIY m bricolage|DNA m ADN|ECB f BCE|ECHR f CEDH|EEC f CEE|ER p urgences|EU f UE|FIFA f FIFA|GDP m PIB|GDPR m RGPD
GMO m OGM|GNP m PNB|GP m généraliste|HIV m VIH|HQ m siège|HR p RH|IAEA f AIEA|ICC f CPI|ICT p TIC|ILO f OIT|IMF m FMI
IPCC m GIEC|IPO f introduction en bourse|IQ m QI|IVF f FIV|LLC f SARL|MCQ m QCM|MP m député|MRI f IRM|NASA f NASA
NATO f OTAN|NGO f ONG|NPT m TNP|OCD p TOC|OECD f OCDE|OPEC f OPEP|RNA m ARN|SDG p ODD|SME f PME|STD f MST|STI f IST
UAE p EAU|UEFA f UEFA|UFO m OVNI|UN f ONU|UNESCO f UNESCO|UNHCR m HCR|UNICEF m UNICEF|USSR f URSS|VAT f TVA|WHO f OMS
WIPO f OMPI|WMO f OMM|WTO f OMC
"""
_ENGLISH_OF_FRENCH = """
BD comic|BTP construction|CB bank card|CDD fixed-term contract|CDI permanent contract|DRH HR manager
HLM social housing|HT excl. tax|IVG abortion|JO Olympics|ORL ENT specialist|RIB bank details
SAV after-sales service|SDF homeless person|SMIC minimum wage|TTC incl. tax|VTT mountain bike
"""
"""Those whose translation is no abbreviation."""


def _rows(table: str) -> list[list[str]]:
    return [row.split(" ", 2) for line in table.strip().splitlines() for row in line.split("|")]


_FRENCH = {english: (french, gender) for english, gender, french in _rows(_FRENCH_OF_ENGLISH)}
_ENGLISH = {french: english for english, (french, _) in _FRENCH.items() if french.isupper()} | {
    row[0]: " ".join(row[1:]) for row in _rows(_ENGLISH_OF_FRENCH)
}


def is_known(abbreviation: str) -> bool:
    """Return whether an abbreviation has another form in another language."""
    return abbreviation in _FRENCH or abbreviation in _ENGLISH


def translated(abbreviation: str, language: str) -> str:
    """Return the form or the words of an abbreviation in this language, or the abbreviation itself."""
    if language == "fr":
        return _FRENCH.get(abbreviation, (abbreviation, ""))[0]
    return _ENGLISH.get(abbreviation, abbreviation) if language == "en" else abbreviation


def agreement(abbreviation: str, language: str) -> Literal["", "m", "f", "p"]:
    """Return how a determiner agrees with an abbreviation in this language, or nothing if that is not known."""
    return _FRENCH[abbreviation][1] if language == "fr" and abbreviation in _FRENCH else ""  # type: ignore[return-value]
