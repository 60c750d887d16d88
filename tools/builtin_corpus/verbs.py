"""The verbs, by what they take, the most frequent first.

An entry reads `english [past participle] [+particle] [@preposition] = french [+noun] [@preposition] : subjects
[: objects]`. The English past is given where it is irregular. After the base a star marks states, whose simple
past is a French imparfait, and an exclamation mark moments, which English does not put in the progressive. A
French noun belongs to the verb (`avoir +besoin`). Subjects and objects name sections of the nouns; "animate"
is persons and animals.
"""

from __future__ import annotations

TRANSITIVE = """
    see! saw seen = voir : animate : person animal vehicle place thing
    have* had = avoir : person : thing vehicle clothes animal abstract
    take took taken = prendre : person : thing vehicle food
    buy bought = acheter : person : thing vehicle clothes food drink dish text
    find! found = trouver : person : thing text abstract
    like* = aimer : person : person food text animal place dish
    eat ate eaten = manger : animate : food food dish
    know* knew known = connaître : person : person place text
    read read read = lire : person : text
    +for look = chercher : person : thing person animal
    watch = regarder : person : event animal thing
    hear! heard = entendre : animate : person animal
    open = ouvrir : person : openable
    write wrote written = écrire : person : text
    meet! met = rencontrer : person : person
    lose! lost = perdre : person : thing text animal
    close = fermer : person : openable
    love* = adorer : person : person animal place
    want* = vouloir : person : thing clothes vehicle drink dish
    drink drank drunk = boire : person : drink
    visit = visiter : person : place
    +for wait = attendre : person : person vehicle
    forget! forgot forgotten = oublier : person : thing text person
    help = aider : person : person
    sell sold = vendre : person : thing vehicle food
    wear wore worn = porter : person : clothes
    leave left = quitter : person : place
    break! broke broken = casser : person : breakable
    repair = réparer : person : repairable
    prepare = préparer : person : food dish event
    +to listen = écouter : person : person text
    +at look = observer : animate : person animal place
    understand! understood = comprendre : person : abstract text person
    choose! chose chosen = choisir : person : thing clothes text
    follow = suivre : animate : person animal vehicle
    invite = inviter : person : person
    steal! stole stolen = voler : person : thing vehicle
    build built = construire : person : place
    call = appeler : person : person
    hide hid hidden = cacher : person : thing text
    clean = nettoyer : person : place thing
    drive drove driven = conduire : person : vehicle
    receive! = recevoir : person : text thing
    wash = laver : person : washable
    explain = expliquer : person : abstract
    finish! = terminer : person : text
    paint = peindre : person : place person
    carry = transporter : person : thing
    throw threw thrown = jeter : person : thing
    hate* = détester : person : person food dish animal
    discover! = découvrir : person : abstract place
    protect = protéger : person : person place
    catch caught = attraper : animate : animal
    accept! = accepter : person : abstract
    recognize! = reconnaître : person : person
    thank = remercier : person : person
    admire* = admirer : person : person
    cross = traverser : animate : crossable
    accompany = accompagner : person : person
    borrow = emprunter : person : thing text vehicle
    draw drew drawn = dessiner : person : animal thing
    kiss = embrasser : person : person
    translate = traduire : person : text
    destroy = détruire : person : place
    touch = toucher : person : thing
    cut cut cut = couper : person : dish
    push = pousser : person : thing vehicle
    study = étudier : person : abstract
    sign = signer : person : text
    fear* = craindre : animate : person animal
    chase = chasser : animate : animal
    decorate = décorer : person : place
    correct = corriger : person : text abstract
    pull = tirer : person : support
    burn = brûler : person : text
    rent = louer : person : vehicle
    bury = enterrer : person : thing
    feed fed = nourrir : person : animal"""

# Those that make a natural passive; its subject is drawn from the objects.
PASSIVE = (
    "find buy see steal build repair sell read write invite discover destroy paint choose open translate "
    "hide wash decorate forget protect recognize eat prepare follow"
)

INTRANSITIVE = """
    sleep slept = dormir : animate
    work = travailler : person
    arrive = arriver : person vehicle
    sing sang sung = chanter : person
    leave left = partir : person vehicle
    play = jouer : animate
    speak spoke spoken = parler : person
    run ran run = courir : animate
    laugh = rire : person
    come came come = venir : person
    dance = danser : person
    cry = pleurer : person
    smile = sourire : person
    fall fell fallen = tomber : animate thing
    wait = attendre : person
    stay = rester : person
    walk = marcher : person
    travel = voyager : person
    swim swam swum = nager : animate
    die = mourir : animate
    +up get got = se lever : person
    +up wake woke woken = se réveiller : person
    +back come came come = revenir : person
    +to.bed go went gone = se coucher : person
    begin began begun = commencer : event
    hurry = se dépêcher : person
    +home go went gone = rentrer : person
    +out go went gone = sortir : person
    disappear! = disparaître : animate thing
    rest = se reposer : animate
    stop = s'arrêter : person vehicle
    think thought = réfléchir : person
    +down sit sat = s'asseoir : person
    end! = finir : event
    succeed! = réussir : person
    lie = mentir : person
    shout = crier : person
    +asleep fall fell fallen = s'endormir : animate
    +dressed get got = s'habiller : person
    +fun have had = s'amuser : person
    +in come came come = entrer : person
    suffer = souffrir : animate
    +mistaken be! = se tromper : person
    cook = cuisiner : person
    +a.walk take took taken = se promener : person
    +angry get got = se fâcher : person
    +away move = s'éloigner : person vehicle
    hesitate = hésiter : person
    cough = tousser : person
    escape = s'échapper : animate
    shine shone = briller : thing
    grow grew grown = grandir : animal
    bathe = se baigner : person
    +hungry be* = avoir +faim : animate
    +thirsty be* = avoir +soif : animate
    +right be* = avoir +raison : person
    +wrong be* = avoir +tort : person
    +sleepy be* = avoir +sommeil : person
    +ashamed be* = avoir +honte : person
    snore = ronfler : person"""

# With a place the sentence needs: the French preposition follows the English one.
PLACED = """
    live* = habiter : person : in
    go went gone = aller : person : to
    work = travailler : person : in
    come came come = venir : person : from
    arrive = arriver : person : at
    stay = rester : person : in
    return = retourner : person : to
    play = jouer : animate : in
    walk = marcher : person : as far as
    sleep slept = dormir : animate : in
    run ran run = courir : animate : as far as
    travel = voyager : person : in
    come came come +back = revenir : person : from
    leave left = partir : person : for"""

GIVING = """
    give gave given = donner : person : thing text food clothes
    show showed shown = montrer : person : thing text animal
    send sent = envoyer : person : text thing
    tell told = raconter : person : tale
    bring brought = apporter : person : thing food drink text
    offer = offrir : person : thing clothes drink
    lend lent = prêter : person : thing vehicle text
    sell sold = vendre : person : vehicle thing
    read read read = lire : person : text
    return = rendre : person : thing text
    write wrote written = écrire : person : text
    throw threw thrown = jeter : person : thing
    serve = servir : person : dish drink
    explain = expliquer : person : abstract"""

# English lets these say "gives the boy a book" for "gives a book to the boy".
DATIVE_SHIFT = "give show send tell bring offer lend sell read throw serve"

PREPOSITIONAL = """
    talk @about = parler @de : person : abstract person event place
    think* thought @about = penser @à : person : person abstract event
    play @with = jouer @avec : animate : animal person
    need* = avoir +besoin @de : person : thing person abstract drink
    answer = répondre @à : person : person text
    work @for = travailler @pour : person : person profession
    dream @about = rêver @de : person : vehicle place
    talk @to = parler @à : person : person
    remember* = se souvenir @de : person : person event place
    live* @with = vivre @avec : person : person
    obey = obéir @à : animate : person
    phone = téléphoner @à : person : person profession
    travel @with = voyager @avec : person : person
    +care take took taken @of = s'occuper @de : person : animal person
    +afraid be* @of = avoir +peur @de : animate : animal person
    trust = faire +confiance @à : person : person profession
    resemble* = ressembler @à : animate : person animal
    smile @at = sourire @à : person : person
    belong* @to = appartenir @à : thing vehicle : person
    participate @in = participer @à : person : event
    +interested be* @in = s'intéresser @à : person : abstract text
    laugh @at = se moquer @de : person : person
    dance @with = danser @avec : person : person
    depend* @on = dépendre @de : abstract : person abstract
    fight fought @against = lutter @contre : person : person animal"""

# With an infinitive; the preposition is the French one before it.
INFINITIVAL = """
    want* = vouloir : person
    try = essayer @de : person
    like* = aimer : person
    begin began begun = commencer @à : animate
    hope* = espérer : person
    decide! = décider @de : person
    forget! forgot forgotten = oublier @de : person
    need* = avoir +besoin @de : person
    refuse! = refuser @de : person
    continue = continuer @à : animate
    learn = apprendre @à : person
    prefer* = préférer : person
    promise! = promettre @de : person
    choose! chose chosen = choisir @de : person
    hesitate = hésiter @à : person
    manage = réussir @à : person"""

# With a whole clause.
CLAUSAL = """
    say said = dire : person
    think* thought = penser : person
    know* knew known = savoir : person
    believe* = croire : person
    hope* = espérer : person
    see* saw seen = voir : person
    understand* understood = comprendre : person
    announce = annoncer : person
    explain = expliquer : person
    forget! forgot forgotten = oublier : person
    claim* = prétendre : person
    discover! = découvrir : person
    notice! = remarquer : person
    confirm = confirmer : person
    imagine* = imaginer : person"""

# With an indirect question: where, when, why, how, or if.
ASKING = """
    know* knew known = savoir : person
    wonder* = se demander : person
    understand understood = comprendre : person
    explain = expliquer : person
    forget! forgot forgotten = oublier : person
    ask = demander : person"""

# Intransitive verbs one does well, badly, or too much.
EXERTIONS = "sleep work sing dance swim play cook run"

# What people do with others.
TOGETHER = "sing dance play travel work eat cook walk speak leave arrive come laugh swim"

# Verbs that say no more with a place behind them.
INWARD = (
    "know like love want have hate fear admire be understand remember come return leave arrive succeed forget "
    "lose receive believe translate"
)
