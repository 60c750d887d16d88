"""Adverbs, conjunctions, prepositions, and whole phrases of time.

A phrase that does not fall into parts gives its own alignment after a bar: `0-1` is a sure link from the first
English word to the second French one, `0p1` a possible one. Without a bar all its words are linked surely.
"""

from __future__ import annotations

# Beside the verb: before the English main verb, after the French finite one.
FREQUENCY = (
    "often=souvent; always=toujours; sometimes=parfois; also=aussi; still=encore; probably=probablement; "
    "rarely=rarement; really=vraiment; already=déjà; certainly=certainement"
)

# After the English object, straight after the French verb.
MANNER = (
    "quickly=rapidement; slowly=lentement; quietly=silencieusement; carefully=soigneusement; happily=joyeusement; "
    "easily=facilement; calmly=calmement; patiently=patiemment; politely=poliment; gently=doucement; "
    "nervously=nerveusement; sadly=tristement; secretly=secrètement; bravely=courageusement; discreetly=discrètement"
)

# The same, but inside a French compound tense: a bien dormi.
INNER_MANNER = "well=bien; badly=mal; a lot=beaucoup; too much=trop; enough=assez; better=mieux"

# In front of the sentence, before a comma.
SENTENCE = (
    "unfortunately=malheureusement; finally=finalement; suddenly=soudain; of course=bien sûr; "
    "however=cependant; fortunately=heureusement; sometimes=parfois; in general=en général; "
    "for example=par exemple; then=ensuite; obviously=évidemment; strangely=étrangement"
)

# Time, by the frame the sentence is in.
PAST_TIMES = """
    yesterday=hier; last week=la semaine dernière|0p0 1-1 0-2; last year=l' année dernière|0p0 1-1 0-2;
    this morning=ce matin|0-0 1-1; last night=hier soir|0-0 1-1; last month=le mois dernier|0p0 1-1 0-2;
    yesterday morning=hier matin|0-0 1-1; that day=ce jour-là|0-0 1-1; last summer=l' été dernier|0p0 1-1 0-2;
    last winter=l' hiver dernier|0p0 1-1 0-2; the day before yesterday=avant-hier|0p0 1-0 2-0 3-0;
    at that time=à cette époque|0-0 1-1 2-2"""

PRESENT_TIMES = """
    every day=tous les jours|0-0 0p1 1-2; today=aujourd' hui; now=maintenant; in the morning=le matin|0p0 1-0 2-1;
    every morning=tous les matins|0-0 0p1 1-2; in the evening=le soir|0p0 1-0 2-1; at night=la nuit|0p0 1-1;
    every week=toutes les semaines|0-0 0p1 1-2; this week=cette semaine|0-0 1-1;
    in the afternoon=l' après-midi|0p0 1-0 2-1; every year=tous les ans|0-0 0p1 1-2;
    in summer=en été|0-0 1-1; in winter=en hiver|0-0 1-1; in spring=au printemps|0-0 1-1;
    on weekends=le week-end|0p0 1-1; at noon=à midi|0-0 1-1; these days=ces jours-ci|0-0 1-1;
    every evening=tous les soirs|0-0 0p1 1-2; in autumn=en automne|0-0 1-1"""

FUTURE_TIMES = """
    tomorrow=demain; soon=bientôt; next week=la semaine prochaine|0p0 1-1 0-2; tonight=ce soir;
    next year=l' année prochaine|0p0 1-1 0-2; tomorrow morning=demain matin|0-0 1-1;
    this evening=ce soir|0-0 1-1; next month=le mois prochain|0p0 1-1 0-2; one day=un jour|0-0 1-1;
    this afternoon=cet après-midi|0-0 1-1; next summer=l' été prochain|0p0 1-1 0-2;
    the day after tomorrow=après-demain|0p0 1-0 2-0 3-0"""

WEEKDAYS = (
    "Monday=lundi; Tuesday=mardi; Wednesday=mercredi; Thursday=jeudi; Friday=vendredi; Saturday=samedi; Sunday=dimanche"
)

MONTHS = (
    "January=janvier; February=février; March=mars; April=avril; May=mai; June=juin; July=juillet; "
    "August=août; September=septembre; October=octobre; November=novembre; December=décembre"
)

NUMBERS = (
    "two=deux; three=trois; four=quatre; five=cinq; ten=dix; six=six; seven=sept; eight=huit; twenty=vingt; "
    "nine=neuf; twelve=douze; eleven=onze; fifteen=quinze; thirty=trente; fifty=cinquante; twenty-five=vingt-cinq; "
    "forty=quarante; thirteen=treize; fourteen=quatorze; sixteen=seize; sixty=soixante"
)

SPANS = "years=ans; days=jours; hours=heures; weeks=semaines; minutes=minutes; months=mois"

# Adverbs of place.
HERE = "here=ici; there=là-bas; outside=dehors; everywhere=partout; upstairs=en haut; far away=au loin"

# English = French. Contraction with the article is the grammar's work.
PREPOSITIONS: dict[str, str] = {
    "in": "dans", "on": "sur", "at": "à", "to": "à", "from": "de", "of": "de", "with": "avec", "for": "pour",
    "under": "sous", "behind": "derrière", "in front of": "devant", "near": "près de", "next to": "à côté de",
    "far from": "loin de", "before": "avant", "after": "après", "during": "pendant", "as far as": "jusque à",
}  # fmt: skip

# Subordinate clauses: English = French, and the mood: i indicative, s subjunctive, f the French future where
# English has a present (when he arrives: quand il arrivera), c conditions.
CONJUNCTIONS = """
    because=parce que i; when=quand f; if=si c; while=pendant que i; although=bien que s; before=avant que s;
    after=après que f; since=puisque i; as soon as=dès que f; until=jusque à ce que s; so that=pour que s;
    even if=même si i"""

# The weather, by frame; the subject is nobody's *it*.
WEATHER = {
    "present": """
        it is raining=il pleut|0-0 1p1 2-1; it is snowing=il neige|0-0 1p1 2-1; it is late=il est tard|0-0 1-1 2-2;
        it is sunny=il y a du soleil|0-0 1-2 2-4 2p3 0p1 1p1; it is windy=il y a du vent|0-0 1-2 2-4 2p3 0p1 1p1""",
    "past": """
        it was raining=il pleuvait|0-0 1p1 2-1; it was snowing=il neigeait|0-0 1p1 2-1;
        it was late=il était tard|0-0 1-1 2-2; it was sunny=il y avait du soleil|0-0 1-2 2-4 2p3 0p1 1p1;
        it was windy=il y avait du vent|0-0 1-2 2-4 2p3 0p1 1p1""",
}
