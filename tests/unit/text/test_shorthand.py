"""Shorthand that is read as words."""

import time

import pytest

from rnnsearch.text.shorthand import spelled_out


@pytest.mark.parametrize(
    ("language", "line", "expected"),
    [
        ("en", "tea w/o sugar, w/ milk", "tea without sugar, with milk"),
        ("en", "meet me @ 5pm, write to @anna or a@b.org", "meet me at 5pm, write to @anna or a@b.org"),
        ("en", "No. 10, see No.5. No. It is late.", "Number 10, see number 5. No. It is late."),
        (
            "en",
            "in Q3 2023, by Q4; in Q1 of 1999",
            "in the third quarter of 2023, by the fourth quarter; in the first quarter of 1999",
        ),
        ("en", "Our Q3 2023 results, Q&A, the Q3 model, Audi Q3.", "Our Q3 2023 results, Q&A, the Q3 model, Audi Q3."),
        ("fr", "Au T3 2023, un T3 au T2", "Au troisième trimestre de 2023, un T3 au T2"),
        ("en", "See ya, Ya. Sat 10-2, Sun 9am, Fri 5:30", "See you, Ya. Saturday 10-2, Sunday 9am, Friday 5:30"),
        ("fr", "lun.-ven. 9h-17h30, sam. 10h-14h", "du lundi au vendredi 9h-17h30, samedi 10h-14h"),
        ("en", "between $10-$15, or €5.50 – €7; 10-15", "between $10 and $15, or €5.50 to €7; 10-15"),
        ("en", "See fig. 3a, Fig.2 and a fig.", "See figure 3a, Figure 2 and a fig."),
        ("en", "and/or, c/o, 5 W/m", "and/or, c/o, 5 W/m"),
        ("fr", "RDV @ 17h", "Rendez-vous à 17h"),
        ("de", "um @ 5", "um @ 5"),
        ("en", "NATO is here. He left Nasa in May.", "The NATO is here. He left the NASA in May."),
        ("en", "A NATO summit, with NATO forces", "A NATO summit, with the NATO forces"),
        ("en", "the NATO, NATO, NATO-led, NATO", "the NATO, the NATO, NATO-led, the NATO"),
        ("en", "NATO", "NATO"),
        ("fr", "L'Otan et la NASA, du CERN au CERN", "OTAN et NASA, de CERN à CERN"),
        ("fr", "le sommet de l'OTAN à l’Onu", "le sommet de OTAN à l’ONU"),
        (
            "en",
            "http://a.org/5/day and www.a.org/x(s), item(s).txt, C:\\5/day, a@b.org",
            "http://a.org/5/day and www.a.org/x(s), item(s).txt, C:\\5/day, a@b.org",
        ),
        ("en", "see e.g. http://a.org, $5/day. Thx!", "see for example http://a.org, $5 per day. Thanks!"),
        ("fr", "aa.e@a.org, l'étudiant.e", "aa.e@a.org, l'étudiant"),
        ("en", 'It is 27" wide.', "It is 27 inches wide."),
        ("en", 'A 3.5" disk, 6\'2" tall, "No. 5", he said "27".', 'A 3.5" disk, 6\'2" tall, "number 5", he said "27".'),
        ("en", "Flat no. 10. THX FOR YOUR HELP ASAP", "Flat number 10. Thanks FOR YOUR HELP as soon as possible"),
        ("en", "THX FOR YOUR HELP ASAP, y'all", "Thanks FOR YOUR HELP as soon as possible, you all"),
        ("fr", "NE PAS TOUCHER SVP", "NE PAS TOUCHER S'IL VOUS PLAÎT"),
        (
            "en",
            "FYI: pls come asap, thx! Tbh, I am omw.",
            "For your information: please come as soon as possible, thanks! To be honest, I am on my way.",
        ),
        ("en", "JK Rowling and TTYL.com, fyi.org", "JK Rowling and TTYL.com, fyi.org"),
        ("en", "fruit, e.g. apples, i.e. food", "fruit, for example apples, that is food"),
        (
            "en",
            "Open 24/7, Mon.-Fri. 9-5; Sat–Sun",
            "Open 24 hours a day, 7 days a week, Monday to Friday 9-5; Saturday to Sunday",
        ),
        (
            "en",
            "I met Jan on 5 Jan. 1980, Sept. 3 and Mar 5. The sun sat.",
            "I met Jan on 5 January 1980, September 3 and March 5. The sun sat.",
        ),
        (
            "en",
            "40 hrs, 30 mins. later, $5/hr, $40/mo, €12/night",
            "40 hours, 30 minutes later, $5 per hour, $40 per month, €12 per night",
        ),
        (
            "fr",
            "Mlle Durand, stp, SVP. Jsp, bcp de monde",
            "Mademoiselle Durand, s'il te plaît, s'il vous plaît. Je ne sais pas, beaucoup de monde",
        ),
        (
            "en",
            "Open Mon-Fri 9am-5pm, from Mon-Fri, at 5ish",
            "Open from Monday to Friday 9am-5pm, from Monday to Friday, at about 5",
        ),
        (
            "fr",
            "Ouvert lun.-ven., Sam-dim, du lun-ven",
            "Ouvert du lundi au vendredi, Du samedi au dimanche, du lundi au vendredi",
        ),
        ("fr", "lun.-ven. 24h/24 et 7j/7, 6j/7", "du lundi au vendredi 24 heures sur 24 et 7 jours sur 7, 6 jours sur 7"),
        (
            "fr",
            "les sept 3, le 14 juil. à sept heures, sept. 2020, le 5 oct.",
            "les sept 3, le 14 juillet à sept heures, septembre 2020, le 5 octobre.",
        ),
        (
            "fr",
            "2 h de retard, pendant 3h, dans 2h30, à 15 h de l'après-midi",
            "2 heures de retard, pendant 3 heures, dans 2h30, à 15 h de l'après-midi",
        ),
        ("en", "Delete 3 item(s), box(es), child(ren) (s)", "Delete 3 items, boxes, children (s)"),
        ("fr", "Cher(e)s ami(e)(s), êtes-vous né(e) ? Pièce(s) jointe(s)", "Chers amis, êtes-vous né ? Pièces jointes"),
        (
            "fr",
            "un·e étudiant·e, tous·tes, les ami•e•s, l'étudiant.e, des élu.e.s",
            "un étudiant, tous, les amis, l'étudiant, des élus",
        ),
        ("fr", "(e) f(e) et site.e.fr", "(e) f et site.e.fr"),
    ],
)
def test_shorthand(language: str, line: str, expected: str) -> None:
    assert spelled_out(line, language) == expected


def test_a_long_line_takes_linear_time() -> None:
    began = time.process_time()
    assert spelled_out("stp SVP " * 50_000, "fr").count("plaît") == 100_000
    assert spelled_out('5/day 3" no. 5 Mon-Fri item(s) ASAP ' * 10_000, "en").count("per day") == 10_000
    assert time.process_time() - began < 20
