"""The adjectives, the most frequent first.

An entry reads `english=french[/feminine] use`, with the feminine only where it is irregular. The letters of
`use` say what the adjective is said of (p persons and animals, t things, b both), then how it compares
(s: bigger, l: more expensive, -: not at all).
"""

from __future__ import annotations

# These stand before a French noun.
BEFORE = """
    small=petit bs; big=grand bs; new=nouveau/nouvelle ts; old=vieux/vieille bs; young=jeune ps; good=bon bs;
    beautiful=beau/belle bl; bad=mauvais bs; pretty=joli bs; long=long/longue ts; fat=gros/grosse ps"""

# These take no degree and are not said after "is".
ORDER = "other=autre b-; first=premier b-; last=dernier b-; same=même b-; second=deuxième b-"

AFTER = """
    red=rouge t-; happy=heureux ps; tired=fatigué pl; white=blanc/blanche t-; black=noir t-; blue=bleu t-;
    expensive=cher tl; important=important bl; rich=riche ps; interesting=intéressant tl; strong=fort ps;
    green=vert t-; sad=triste ps; difficult=difficile tl; strange=étrange bl; poor=pauvre ps; famous=célèbre bl;
    easy=facile ts; sick=malade p-; French=français b-; dangerous=dangereux bl; heavy=lourd ts; modern=moderne tl;
    English=anglais b-; intelligent=intelligent pl; empty=vide t-; yellow=jaune t-; clean=propre ts; quiet=calme bs;
    brave=courageux ps; open=ouvert t-; German=allemand b-; proud=fier pl; funny=drôle bs; closed=fermé t-;
    Italian=italien b-; serious=sérieux bl; dirty=sale ts; cold=froid ts; curious=curieux pl; simple=simple tl;
    polite=poli pl; useful=utile tl; honest=honnête pl; gray=gris t-; worried=inquiet/inquiète pl; Spanish=espagnol b-;
    hot=chaud ts; magnificent=magnifique t-; patient=patient pl; comfortable=confortable tl; busy=occupé pl;
    public=public/publique t-; angry=fâché p-; perfect=parfait t-; elegant=élégant bl; foreign=étranger b-;
    light=léger ts; jealous=jaloux/jalouse pl; lazy=paresseux ps; high=haut ts; American=américain b-;
    generous=généreux pl; full=plein t-; huge=énorme t-; delicious=délicieux t-; round=rond t-; shy=timide pl;
    wide=large ts; dark=sombre ts; Chinese=chinois b-; possible=possible t-; tiny=minuscule t-; fragile=fragile bl;
    low=bas/basse ts; deep=profond ts; brown=brun t-; Russian=russe b-; wet=mouillé b-; calm=tranquille bl;
    soft=doux/douce ts; private=privé t-; wounded=blessé p-; pink=rose t-; blind=aveugle p-;
    slow=lent bs; precious=précieux tl; fast=rapide bs; wonderful=merveilleux t-; nervous=nerveux pl;
    Japanese=japonais b-; fresh=frais/fraîche ts; narrow=étroit ts; horrible=horrible t-; complicated=compliqué tl;
    necessary=nécessaire t-; royal=royal t-; local=local t-; broken=cassé t-; cruel=cruel pl; electric=électrique t-;
    thick=épais/épaisse ts; medieval=médiéval t-; purple=violet t-; rare=rare tl; European=européen b-; lost=perdu b-;
    bright=clair ts; thin=mince bs; secret=secret/secrète t-; impossible=impossible t-; mysterious=mystérieux bl;
    national=national t-; solid=solide tl; stubborn=têtu pl; married=marié p-; hard=dur ts;
    discreet=discret/discrète pl;
    Portuguese=portugais b-; Swiss=suisse b-; rotten=pourri t-; sharp=pointu ts; hollow=creux/creuse t-"""

# Said of any gradable adjective.
DEGREES = "very=très; too=trop; quite=assez; really=vraiment; rather=plutôt; a little=un peu|0-0 1-1"

COMPARATIVES = {"good": ("better", "best"), "bad": ("worse", "worst")}

# What can be said of ideas, texts and events, which have no colour and no weight.
OF_IDEAS = (
    "new old good bad long important interesting difficult strange famous easy dangerous French English "
    "serious funny German Italian modern simple useful perfect secret possible impossible complicated "
    "necessary horrible wonderful mysterious rare magnificent small big beautiful other first last same "
    "second Spanish Russian"
)
