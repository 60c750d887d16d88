"""The nouns, by what they name, the most frequent first.

An entry reads `english[/plural]=french[/plural] gender[ ~feminine]`: plurals only where they are irregular,
and after ~ the form a woman takes in "she is a ...". English inflects the last word of a compound, French
the first. No English noun occurs twice: its French must follow from it alone.
"""

from __future__ import annotations

NOUNS: dict[str, str] = {
    "person": """
        man/men=homme m; woman/women=femme f; child/children=enfant m; friend=ami m; boy=garçon m;
        girl=fille f; mother=mère f; father=père m; brother=frère m; sister=sœur f; son=fils m; neighbor=voisin m;
        husband=mari m; wife/wives=épouse f; cousin=cousin m; uncle=oncle m; aunt=tante f; king=roi m;
        grandmother=grand-mère/grands-mères f; grandfather=grand-père/grands-pères m; queen=reine f;
        daughter=fille f; guest=invité m; tourist=touriste m; stranger=inconnu m; lady=dame f; thief/thieves=voleur m;
        baby=bébé m; colleague=collègue m; nurse=infirmière f; actress=actrice f; customer=client m;
        witness=témoin m; hero/heroes=héros m; princess=princesse f; prince=prince m; waitress=serveuse f;
        traveler=voyageur m; passenger=passager m; girlfriend=amie f; enemy=ennemi m; partner=partenaire m;
        nephew=neveu m; niece=nièce f; twin=jumeau m; orphan=orphelin m; widow=veuve f; pirate=pirate m""",
    "profession": """
        teacher=professeur m ~professeur; doctor=médecin m ~médecin; student=étudiant m ~étudiante;
        lawyer=avocat m ~avocate; journalist=journaliste m ~journaliste; baker=boulanger m ~boulangère;
        engineer=ingénieur m ~ingénieur; writer=écrivain m ~écrivain; painter=peintre m ~peintre;
        farmer=fermier m ~fermière; soldier=soldat m ~soldate; actor=acteur m ~actrice;
        police officer=policier m ~policière; cook=cuisinier m ~cuisinière; judge=juge m ~juge;
        singer=chanteur m ~chanteuse; musician=musicien m ~musicienne; director=directeur m ~directrice;
        merchant=marchand m ~marchande; artist=artiste m ~artiste; driver=chauffeur m ~chauffeur;
        worker=ouvrier m ~ouvrière; minister=ministre m ~ministre; gardener=jardinier m ~jardinière;
        dentist=dentiste m ~dentiste; secretary=secrétaire m ~secrétaire; architect=architecte m ~architecte;
        pilot=pilote m ~pilote; sailor=marin m ~marin; librarian=bibliothécaire m ~bibliothécaire;
        scientist=scientifique m ~scientifique; butcher=boucher m ~bouchère; guard=gardien m ~gardienne;
        hairdresser=coiffeur m ~coiffeuse; translator=traducteur m ~traductrice; president=président m ~présidente;
        fisherman/fishermen=pêcheur m ~pêcheuse; mailman/mailmen=facteur m ~factrice;
        pharmacist=pharmacien m ~pharmacienne; photographer=photographe m ~photographe""",
    "animal": """
        dog=chien m; cat=chat m; horse=cheval m; bird=oiseau m; cow=vache f; mouse/mice=souris f; rabbit=lapin m;
        wolf/wolves=loup m; bear=ours m; lion=lion m; elephant=éléphant m; fox=renard m; duck=canard m;
        snake=serpent m; monkey=singe m; pig=cochon m; goat=chèvre f; tiger=tigre m; owl=hibou/hiboux m; bee=abeille f;
        frog=grenouille f; butterfly=papillon m; donkey=âne m; turtle=tortue f; spider=araignée f;
        squirrel=écureuil m; hamster=hamster m; hedgehog=hérisson m""",
    "thing": """
        key=clé f; table=table f; chair=chaise f; phone=téléphone m; picture=photo f; bag=sac m; box=boîte f;
        computer=ordinateur m; watch=montre f; door=porte f; window=fenêtre f; bottle=bouteille f; glass=verre m;
        flower=fleur f; tree=arbre m; bed=lit m; knife/knives=couteau m; umbrella=parapluie m; lamp=lampe f;
        gift=cadeau m; plate=assiette f; cup=tasse f; painting=tableau m; suitcase=valise f; ticket=billet m;
        guitar=guitare f; piano=piano m; ring=bague f; map=carte f; mirror=miroir m; machine=machine f; ball=balle f;
        toy=jouet m; tool=outil m; basket=panier m; clock=horloge f; coin=pièce f; wall=mur m; armchair=fauteuil m;
        pen=stylo m; pencil=crayon m; blanket=couverture f; carpet=tapis m; bell=cloche f; candle=bougie f;
        doll=poupée f; camera=caméra f; television=télévision f; radio=radio f; violin=violon m;
        wallet=portefeuille m; statue=statue f; stone=pierre f; shelf/shelves=étagère f; spoon=cuillère f;
        fork=fourchette f; treasure=trésor m; sword=épée f; axe=hache f; rope=corde f; screen=écran m; oven=four m;
        fridge=réfrigérateur m; washing machine=machine à laver f; vacuum cleaner=aspirateur m;
        ladder=échelle f; pillow=oreiller m; towel=serviette f; hammer=marteau m; leaf/leaves=feuille f;
        flag=drapeau m; diamond=diamant m; wheel=roue f; vase=vase m; shield=bouclier m; harp=harpe f; drum=tambour m;
        lock=serrure f; tent=tente f; mask=masque m; needle=aiguille f""",
    "text": """
        book=livre m; letter=lettre f; story=histoire f; newspaper=journal m; song=chanson f; word=mot m;
        message=message m; poem=poème m; article=article m; report=rapport m; novel=roman m; page=page f; note=note f;
        magazine=magazine m; list=liste f; document=document m; dictionary=dictionnaire m; sentence=phrase f;
        recipe=recette f; contract=contrat m; postcard=carte postale/cartes postales f""",
    "vehicle": """
        car=voiture f; train=train m; boat=bateau m; bicycle=vélo m; bus=bus m; plane=avion m; truck=camion m;
        taxi=taxi m; motorcycle=moto f; ship=navire m; ambulance=ambulance f; tractor=tracteur m;
        helicopter=hélicoptère m; van=camionnette f""",
    "food": """
        apple=pomme f; cake=gâteau m; egg=œuf m; sandwich=sandwich m; tomato/tomatoes=tomate f; vegetable=légume m;
        potato/potatoes=pomme de terre f; orange=orange f; carrot=carotte f; cookie=biscuit m; strawberry=fraise f;
        pizza=pizza f; bean=haricot m; onion=oignon m; pear=poire f; lemon=citron m; cherry=cerise f;
        mushroom=champignon m; banana=banane f; pancake=crêpe f; sausage=saucisse f; omelette=omelette f;
        lobster=homard m""",
    "dish": """
        bread=pain m; meat=viande f; cheese=fromage m; soup=soupe f; chocolate=chocolat m; rice=riz m; fish=poisson m;
        sugar=sucre m; butter=beurre m; ice cream=glace f; salad=salade f; honey=miel m; chicken=poulet m;
        ham=jambon m; jam=confiture f; salt=sel m; garlic=ail m; oil=huile f""",
    "drink": """
        water=eau f; coffee=café m; wine=vin m; tea=thé m; milk=lait m; beer=bière f; juice=jus m;
        lemonade=limonade f; orange juice=jus de orange m; hot chocolate=chocolat chaud m""",
    "clothes": """
        dress=robe f; hat=chapeau m; coat=manteau m; shirt=chemise f; shoe=chaussure f; jacket=veste f; skirt=jupe f;
        sweater=pull m; scarf/scarves=écharpe f; glove=gant m; tie=cravate f; boot=botte f; suit=costume m;
        belt=ceinture f; sock=chaussette f; uniform=uniforme m; raincoat=imperméable m""",
    "place": """
        house=maison f; garden=jardin m; city=ville f; street=rue f; school=école f; village=village m; train station=gare f;
        market=marché m; church=église f; hospital=hôpital m; hotel=hôtel m; restaurant=restaurant m; shop=magasin m;
        library=bibliothèque f; museum=musée m; park=parc m; kitchen=cuisine f; bedroom=chambre f;
        office=bureau m; forest=forêt f; bank=banque f; theater=théâtre m; castle=château m; farm=ferme f;
        university=université f; airport=aéroport m; post office=poste f; country=pays m; river=rivière f;
        factory=usine f; bakery=boulangerie f; living room=salon m; bathroom=salle de bains f; harbor=port m;
        swimming pool=piscine f; town hall=mairie f; bookstore=librairie f; cellar=cave f; valley=vallée f; tower=tour f;
        pharmacy=pharmacie f; prison=prison f; stadium=stade m; lake=lac m; field=champ m; attic=grenier m;
        palace=palais m; hallway=couloir m; dining room=salle à manger f; police station=commissariat m;
        neighborhood=quartier m; hamlet=hameau m; desert=désert m; hall=hall m; cave=grotte f; cathedral=cathédrale f;
        pigsty=porcherie f; workshop=atelier m""",
    "ground": """
        beach=plage f; bridge=pont m; mountain=montagne f; island=île f; square=place f; road=route f;
        roof=toit m; coast=côte f; path=chemin m; hill=colline f; balcony=balcon m; terrace=terrasse f""",
    "abstract": """
        problem=problème m; idea=idée f; question=question f; answer=réponse f; truth=vérité f; mistake=erreur f;
        project=projet m; plan=plan m; decision=décision f; dream=rêve m; result=résultat m; solution=solution f;
        secret=secret m; law=loi f; language=langue f; reason=raison f; promise=promesse f; rule=règle f;
        habit=habitude f; danger=danger m; noise=bruit m; memory=souvenir m; joke=blague f; proposal=proposition f;
        shadow=ombre f; situation=situation f; theory=théorie f; difference=différence f; crime=crime m""",
    "event": """
        party=fête f; meeting=réunion f; movie=film m; concert=concert m; lesson=leçon f; game=jeu m; wedding=mariage m;
        exam=examen m; journey=voyage m; show=spectacle m; dinner=dîner m; war=guerre f; storm=tempête f; lunch=déjeuner m;
        accident=accident m; adventure=aventure f; ceremony=cérémonie f; conference=conférence f; race=course f""",
}

# Groups that cut across the sections above: nouns named by their English singular.
GROUPS: dict[str, str] = {
    "openable": "door window box bag suitcase bottle letter umbrella book",
    "container": "bottle glass cup plate basket box",
    "crossable": "street bridge river square road forest city desert garden",
    "breakable": "glass bottle cup plate window vase lamp clock mirror toy phone",
    "washable": "dress shirt car plate glass window coat cup bottle skirt",
    "repairable": "car bicycle watch computer machine roof clock boat radio television door lock",
    "tale": "story dream joke truth movie adventure journey",
    "support": "table chair bed wall shelf armchair carpet",
}

# Sections whose nouns are not counted in the plural: some bread, du pain.
MASS = frozenset({"dish", "drink"})

# Sections that "he" and "she", not "it", refer to.
PERSONS = frozenset({"person", "profession"})
