"""The generator of the built-in corpus: its tokens, its alignments, and its French."""

from __future__ import annotations

import doctest
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesDetokenizer, MosesTokenizer

import builtin_corpus
from builtin_corpus import AlignedPair, generate, verbs
from builtin_corpus.conjugation import conjugate
from builtin_corpus.corpus import realise
from builtin_corpus.inflection import agree, french_feminine, french_plural
from builtin_corpus.lexicon import Deck, adjective, idiom, lexicon, noun, verb
from builtin_corpus.syntax import (
    Action,
    Adjunct,
    Being,
    Clause,
    Command,
    Compared,
    Coordination,
    Exclamation,
    Fixed,
    Fronted,
    Gap,
    Modal,
    Name,
    Negation,
    Nominal,
    NounPhrase,
    Prepositional,
    Pronoun,
    Question,
    Relative,
    Sentence,
    Subordinate,
    Tense,
    There,
    This,
    Undergoing,
    WhereIs,
)

SAMPLE = 6000


@cache
def sample() -> list[AlignedPair]:
    return list(generate(SAMPLE, seed=7))


# What the corpus promises as a whole


@pytest.mark.slow
def test_tokens_are_those_of_moses() -> None:
    english, french = MosesTokenizer("en"), MosesTokenizer("fr")
    options = {"escape": False, "aggressive_dash_splits": False}
    for pair in sample()[:3000]:
        assert tuple(english.tokenize(pair.source_text, **options)) == pair.source
        assert tuple(french.tokenize(pair.target_text, **options)) == pair.target


def test_texts_are_those_of_moses() -> None:
    english, french = MosesDetokenizer("en"), MosesDetokenizer("fr")
    for pair in sample()[:1000]:
        assert english.detokenize(list(pair.source), unescape=False) == pair.source_text
        assert french.detokenize(list(pair.target), unescape=False) == pair.target_text


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**64), pairs=st.integers(0, 40))
def test_the_seed_decides_and_a_longer_corpus_begins_with_the_shorter(seed: int, pairs: int) -> None:
    first = list(generate(pairs, seed))
    assert len(first) == pairs
    assert list(generate(pairs + 5, seed))[:pairs] == first


def test_seeds_differ() -> None:
    assert list(generate(20, 1)) != list(generate(20, 2))


def test_english_sentences_are_distinct() -> None:
    assert len({pair.source for pair in sample()}) == SAMPLE


@pytest.mark.slow
def test_the_french_follows_from_the_english() -> None:
    french: dict[tuple[str, ...], tuple[str, ...]] = {}
    for seed in range(100, 104):
        for pair in generate(8000, seed):
            assert french.setdefault(pair.source, pair.target) == pair.target


def test_links_lie_within_the_sentences_and_sure_ones_are_possible() -> None:
    for pair in sample():
        assert pair.sure <= pair.possible
        assert all(0 <= i < len(pair.source) and 0 <= j < len(pair.target) for i, j in pair.possible)


def test_every_word_is_linked_and_the_last_mark_surely() -> None:
    for pair in sample():
        assert {i for i, _ in pair.possible} == set(range(len(pair.source))), pair
        assert {j for _, j in pair.possible} == set(range(len(pair.target))), pair
        assert (len(pair.source) - 1, len(pair.target) - 1) in pair.sure


def test_most_words_are_linked_surely() -> None:
    sure = sum(len({j for _, j in pair.sure}) for pair in sample())
    assert sure > 0.8 * sum(len(pair.target) for pair in sample())


def test_lengths_run_from_three_to_sixty() -> None:
    lengths = [len(pair.source) for pair in sample()]
    assert min(lengths) == 3
    assert 50 < max(lengths) <= 60
    assert max(len(pair.target) for pair in sample()) <= 60
    assert 12.5 < sum(lengths) / SAMPLE < 16
    assert sum(length > 30 for length in lengths) > 0.05 * SAMPLE


def test_rare_names_lie_beyond_a_shortlist_and_are_copied() -> None:
    counts = Counter(word for pair in sample() for word in pair.source)
    shortlist = {word for word, _ in counts.most_common(2000)}
    rare = {w for pair in sample() for w in pair.source[1:] if w[0].isupper() and w not in shortlist}
    assert len(rare) > 100
    copied = [pair for pair in sample() if rare & set(pair.source[1:]) & set(pair.target)]
    assert 0.02 * SAMPLE < len(copied) < 0.12 * SAMPLE


def test_frequent_words_cover_the_text() -> None:
    for side in ("source", "target"):
        counts = Counter(word for pair in sample() for word in getattr(pair, side))
        covered = sum(count for _, count in counts.most_common(2500))
        assert covered > 0.965 * counts.total(), side


def test_pharaoh_tells_sure_from_possible() -> None:
    pair = AlignedPair(("a", "b"), ("x", "y"), frozenset({(0, 0)}), frozenset({(0, 0), (1, 1), (0, 1)}))
    assert pair.pharaoh == "0-0 0p1 1p1"


def test_the_example_in_the_documentation() -> None:
    assert doctest.testmod(builtin_corpus).failed == 0


# The lexicon


def test_english_decides_the_french_of_every_noun_and_adjective() -> None:
    words = lexicon()
    nouns = Counter(form for entry in words.every_noun for form in {entry.english, entry.english_plural})
    assert max(nouns.values()) == 1
    assert max(Counter(entry.english for entry in words.every_adjective).values()) == 1


def test_a_deck_draws_its_head_most_often() -> None:
    from random import Random

    deck, rng = Deck(list(range(200))), Random(1)
    counts = Counter(deck.draw(rng) for _ in range(20_000))
    assert counts[0] > counts[5] > counts[60] > 0


# Morphology


@pytest.mark.parametrize(
    ("infinitive", "tense", "forms"),
    [
        ("manger", "present", "mange manges mange mangeons mangez mangent"),
        ("manger", "imperfect", "mangeais mangeais mangeait mangions mangiez mangeaient"),
        ("commencer", "present", "commence commences commence commençons commencez commencent"),
        ("acheter", "future", "achèterai achèteras achètera achèterons achèterez achèteront"),
        ("jeter", "present", "jette jettes jette jetons jetez jettent"),
        ("espérer", "future", "espérerai espéreras espérera espérerons espérerez espéreront"),
        ("protéger", "present", "protège protèges protège protégeons protégez protègent"),
        ("nettoyer", "present", "nettoie nettoies nettoie nettoyons nettoyez nettoient"),
        ("finir", "present", "finis finis finit finissons finissez finissent"),
        ("vendre", "present", "vends vends vend vendons vendez vendent"),
        ("être", "imperfect", "étais étais était étions étiez étaient"),
        ("dire", "present", "dis dis dit disons dites disent"),
        ("sourire", "present", "souris souris sourit sourions souriez sourient"),
        ("écrire", "present", "écris écris écrit écrivons écrivez écrivent"),
        ("venir", "subjunctive", "vienne viennes vienne venions veniez viennent"),
        ("prendre", "subjunctive", "prenne prennes prenne prenions preniez prennent"),
        ("vouloir", "subjunctive", "veuille veuilles veuille voulions vouliez veuillent"),
        ("envoyer", "future", "enverrai enverras enverra enverrons enverrez enverront"),
        ("recevoir", "present", "reçois reçois reçoit recevons recevez reçoivent"),
        ("craindre", "imperfect", "craignais craignais craignait craignions craigniez craignaient"),
        ("disparaître", "present", "disparais disparais disparaît disparaissons disparaissez disparaissent"),
        ("courir", "conditional", "courrais courrais courrait courrions courriez courraient"),
    ],
)
def test_conjugation(infinitive: str, tense: str, forms: str) -> None:
    assert " ".join(getattr(conjugate(infinitive), tense)) == forms


@pytest.mark.parametrize(
    ("infinitive", "participle"),
    [("peindre", "peint"), ("ouvrir", "ouvert"), ("mourir", "mort"), ("disparaître", "disparu"),
     ("comprendre", "compris"), ("vivre", "vécu"), ("asseoir", "assis"), ("rire", "ri"), ("lire", "lu")],
)  # fmt: skip
def test_participles(infinitive: str, participle: str) -> None:
    assert conjugate(infinitive).participle == participle


def test_agreement_of_participles() -> None:
    assert agree("pris", True, True) == "prises"
    assert agree("pris", False, True) == "pris"
    assert agree("dû", True, False) == "due"


def test_regular_feminines_and_plurals() -> None:
    assert [french_feminine(w) for w in ("heureux", "léger", "italien", "cruel", "rouge")] == [
        "heureuse", "légère", "italienne", "cruelle", "rouge",
    ]  # fmt: skip
    assert [french_plural(w) for w in ("cheval", "gâteau", "souris", "bleu", "jeu")] == [
        "chevaux", "gâteaux", "souris", "bleus", "jeux",
    ]  # fmt: skip


# The grammar, construction by construction


def np(english: str, determiner: str = "the", *, plural: bool = False, **parts: object) -> NounPhrase:
    built = NounPhrase(noun(english), determiner, plural)
    for name, value in parts.items():
        setattr(built, name, adjective(value) if name in ("before", "after") and isinstance(value, str) else value)
    return built


def do(table: str, english: str, object: Nominal | None = None, particle: str = "", **rest: object) -> Action:
    built = Action(verb(table, english, particle), object)
    for name, value in rest.items():
        setattr(built, name, value)
    return built


def see(thing: Nominal) -> Action:
    return do(verbs.TRANSITIVE, "see", thing)


def say(subject: str | Nominal, predicate: Action | Being | Undergoing, **rest: object) -> Clause:
    clause = Clause(Pronoun(subject) if isinstance(subject, str) else subject, predicate)
    for name, value in rest.items():
        setattr(clause, name, value)
    return clause


def is_(english: str, **rest: str | Nominal) -> Being:
    return Being(Compared(adjective(english), **rest))  # type: ignore[arg-type]


def that(thing: NounPhrase, word: str, clause: Clause) -> NounPhrase:
    thing.relative = Relative(word, clause)
    return thing


def because(english: str, clause: Clause) -> Adjunct:
    found = next(c for c in lexicon().conjunctions.entries if " ".join(c.english) == english)
    return Subordinate(found, clause)


def seen_car() -> NounPhrase:
    car = np("car")
    return that(car, "that", say("he", see(Gap(car)), tense=Tense.PAST))


PAST, FUTURE = Tense.PAST, Tense.FUTURE
GIVE = verb(verbs.GIVING, "give")
MARIE = Name(("Marie",), ("Marie",), feminine=True)
COUNTRIES = {" ".join(country.english): country for country in lexicon().countries.entries}


def country(english: str) -> Name:
    found = COUNTRIES[english]
    return Name(found.english, (found.french,), country=found)


CONSTRUCTIONS: list[tuple[Sentence, str, str]] = [
    # agreement, the place of adjectives, and forms before vowels
    (say("he", see(np("car", "a", after="red"))), "He sees a red car.", "Il voit une voiture rouge."),
    (say("he", see(np("house", "a", before="small"))), "He sees a small house.", "Il voit une petite maison."),
    (say("he", see(np("tree", "a", before="beautiful"))), "He sees a beautiful tree.", "Il voit un bel arbre."),
    (say("he", see(np("tree", "", before="old", plural=True))), "He sees old trees.", "Il voit de vieux arbres."),
    (say("he", see(np("key", "", plural=True))), "He sees keys.", "Il voit des clés."),
    (say("he", see(np("girlfriend", "my"))), "He sees my girlfriend.", "Il voit mon amie."),
    (say("he", see(np("tree", "this"))), "He sees this tree.", "Il voit cet arbre."),
    (say("he", see(np("hero"))), "He sees the hero.", "Il voit le héros."),
    (say(np("woman", plural=True), is_("old")), "The women are old.", "Les femmes sont vieilles."),
    (say("I", is_("tired")), "I am tired.", "Je suis fatigué."),
    # degrees
    (say("she", is_("big", comparison="more", than=np("man"))),
     "She is bigger than the man.", "Elle est plus grande que l'homme."),
    (say("she", is_("good", comparison="more", than=MARIE)),
     "She is better than Marie.", "Elle est meilleure que Marie."),
    (say("he", see(np("car", after="expensive", superlative=True))),
     "He sees the most expensive car.", "Il voit la voiture la plus chère."),
    (say("he", see(np("house", before="small", superlative=True))),
     "He sees the smallest house.", "Il voit la plus petite maison."),
    # owners, contraction, partitives, quantities
    (say("he", see(np("car", owner=np("man")))), "He sees the man's car.", "Il voit la voiture de l'homme."),
    (say("he", see(np("car", owner=np("king")))), "He sees the king's car.", "Il voit la voiture du roi."),
    (say("he", do(verbs.TRANSITIVE, "drink", np("water", "some"))), "He drinks some water.", "Il boit de l'eau."),
    (say("he", do(verbs.TRANSITIVE, "drink", np("water", "some")), negation=Negation.NOT),
     "He does not drink any water.", "Il ne boit pas d'eau."),
    (say("he", do(verbs.TRANSITIVE, "eat", np("apple", "many", plural=True))),
     "He eats many apples.", "Il mange beaucoup de pommes."),
    (say("he", do(verbs.PLACED, "go", place=Prepositional("to", np("market")))),
     "He goes to the market.", "Il va au marché."),
    (say("he", do(verbs.PLACED, "walk", place=Prepositional("as far as", np("bridge")))),
     "He walks to the bridge.", "Il marche jusqu'au pont."),
    (say("he", do(verbs.PLACED, "live", place=Prepositional("in", country("Japan")))),
     "He lives in Japan.", "Il habite au Japon."),
    (say("he", do(verbs.PLACED, "come", place=Prepositional("from", country("the United States")))),
     "He comes from the United States.", "Il vient des États-Unis."),
    (say("he", see(np("train station"))), "He sees the train station.", "Il voit la gare."),
    # negation and pronouns
    (say("she", see(np("man")), negation=Negation.NOT, contracted=True),
     "She doesn't see the man.", "Elle ne voit pas l'homme."),
    (say("I", do(verbs.TRANSITIVE, "like", Pronoun("she")), negation=Negation.NEVER, tense=Tense.PERFECT),
     "I have never liked her.", "Je ne l'ai jamais aimée."),
    (say("he", see(Pronoun("nothing")), tense=PAST), "He saw nothing.", "Il n'a rien vu."),
    (say("he", see(Pronoun("nobody")), tense=PAST), "He saw nobody.", "Il n'a vu personne."),
    (say("nobody", see(Pronoun("I"))), "Nobody sees me.", "Personne ne me voit."),
    (say("he", Action(GIVE, Pronoun("it"), Pronoun("she"))), "He gives it to her.", "Il le lui donne."),
    (say("he", Action(GIVE, np("book", "a"), np("boy"), shifted=True)),
     "He gives the boy a book.", "Il donne un livre au garçon."),
    (say("she", do(verbs.PREPOSITIONAL, "think", complement=Pronoun("it"))), "She thinks about it.", "Elle y pense."),
    (say("she", do(verbs.PREPOSITIONAL, "need", complement=Pronoun("it")), negation=Negation.NOT),
     "She does not need it.", "Elle n'en a pas besoin."),
    (say("he", do(verbs.PREPOSITIONAL, "answer", complement=Pronoun("they"))), "He answers them.", "Il leur répond."),
    (say("he", do(verbs.PREPOSITIONAL, "work", complement=Pronoun("they"))),
     "He works for them.", "Il travaille pour eux."),
    # tenses and auxiliaries
    (say("she", do(verbs.INTRANSITIVE, "arrive"), tense=PAST), "She arrived.", "Elle est arrivée."),
    (say(np("girl", plural=True), do(verbs.INTRANSITIVE, "get", None, "up"), tense=PAST),
     "The girls got up.", "Les filles se sont levées."),
    (say("we", do(verbs.INTRANSITIVE, "rest"), tense=Tense.GOING_TO),
     "We are going to rest.", "Nous allons nous reposer."),
    (say("he", is_("sick"), tense=PAST), "He was sick.", "Il était malade."),
    (say("they", do(verbs.INTRANSITIVE, "sing"), tense=Tense.WAS_DOING), "They were singing.", "Ils chantaient."),
    (say("she", do(verbs.INTRANSITIVE, "leave"), tense=Tense.PLUPERFECT), "She had left.", "Elle était partie."),
    (say("you", do(verbs.INTRANSITIVE, "come"), tense=FUTURE, contracted=True), "You'll come.", "Vous viendrez."),
    (say("he", see(Pronoun("they")), modal=Modal.CAN, negation=Negation.NOT), "He cannot see them.",
     "Il ne peut pas les voir."),
    (say("he", do(verbs.INTRANSITIVE, "be", None, "hungry"), negation=Negation.NOT), "He is not hungry.",
     "Il n'a pas faim."),
    (say("she", do(verbs.INTRANSITIVE, "sleep", inner_manner=idiom(["well"], ["bien"])), tense=PAST),
     "She slept well.", "Elle a bien dormi."),
    (say(np("house"), Undergoing(verb(verbs.TRANSITIVE, "build"), np("man")), tense=PAST),
     "The house was built by the man.", "La maison a été construite par l'homme."),
    # relative clauses
    (say(seen_car(), is_("red")), "The car that he saw is red.", "La voiture qu'il a vue est rouge."),
    (say(that(np("man"), "whose", say(np("car", "whose"), is_("red"))), do(verbs.INTRANSITIVE, "sleep")),
     "The man whose car is red sleeps.", "L'homme dont la voiture est rouge dort."),
    (say("he", see(that(np("city"), "where", say("she", do(verbs.PLACED, "live"))))),
     "He sees the city where she lives.", "Il voit la ville où elle habite."),
    # subordinate clauses
    (say("he", do(verbs.TRANSITIVE, "buy", np("car")), tense=PAST, adjuncts=[
        because("because", say("it", is_("expensive"), tense=PAST))]),
     "He bought the car because it was expensive.", "Il a acheté la voiture parce qu'elle était chère."),
    (Fronted(because("when", say("he", do(verbs.INTRANSITIVE, "arrive"), tense=Tense.WHEN_FUTURE)),
             say("I", do(verbs.INTRANSITIVE, "leave"), tense=FUTURE)),
     "When he arrives, I will leave.", "Quand il arrivera, je partirai."),
    (say("she", do(verbs.INTRANSITIVE, "leave"), tense=FUTURE, adjuncts=[
        because("if", say("he", do(verbs.INTRANSITIVE, "come")))]),
     "She will leave if he comes.", "Elle partira s'il vient."),
    (say("he", do(verbs.INTRANSITIVE, "sing"), tense=FUTURE, adjuncts=[
        because("after", say("she", do(verbs.INTRANSITIVE, "leave"), tense=Tense.WHEN_DONE))]),
     "He will sing after she leaves.", "Il chantera après qu'elle sera partie."),
    (say("he", do(verbs.INTRANSITIVE, "sing"), adjuncts=[
        because("although", say("she", is_("sick"), tense=Tense.SUBJUNCTIVE))]),
     "He sings although she is sick.", "Il chante bien qu'elle soit malade."),
    (say("he", do(verbs.INFINITIVAL, "want",
                  desired=say("she", do(verbs.INTRANSITIVE, "leave"), tense=Tense.SUBJUNCTIVE))),
     "He wants her to leave.", "Il veut qu'elle parte."),
    (say("he", do(verbs.INFINITIVAL, "try", infinitive=see(Pronoun("he")))),
     "He tries to see him.", "Il essaie de le voir."),
    (say("he", do(verbs.ASKING, "wonder", question_word="if", content=say("he", do(verbs.INTRANSITIVE, "sleep")))),
     "He wonders if he sleeps.", "Il se demande s'il dort."),
    # questions, commands, and the rest
    (Question(say(np("man"), see(np("car")))), "Does the man see the car?", "Est-ce que l'homme voit la voiture ?"),
    (Question(say("he", see(Gap(Pronoun("something")))), "what"), "What does he see?", "Qu'est-ce qu'il voit ?"),
    (Question(say("who", see(Pronoun("I"))), "subject"), "Who sees me?", "Qui me voit ?"),
    (WhereIs(Pronoun("she")), "Where is she?", "Où est-elle ?"),
    (Command(do(verbs.TRANSITIVE, "open", np("door")), True, True), "Don't open the door.", "N'ouvrez pas la porte."),
    (Exclamation(np("house", "what a", before="beautiful")), "What a beautiful house!", "Quelle belle maison !"),
    (There(np("cat", ""), negated=True), "There is no cat.", "Il n'y a pas de chat."),
    (This("these", np("friend", "my", plural=True)), "These are my friends.", "Ce sont mes amis."),
    (say("she", Being(np("actor", "a"))), "She is an actor.", "Elle est actrice."),
    (Fronted(Fixed(idiom(["today"], ["aujourd'", "hui"])), say("he", do(verbs.INTRANSITIVE, "sing"))),
     "Today, he sings.", "Aujourd'hui, il chante."),
    (say(Coordination([np("woman"), np("girl")]), is_("happy")),
     "The woman and the girl are happy.", "La femme et la fille sont heureuses."),
]  # fmt: skip


@pytest.mark.parametrize(("tree", "english", "french"), CONSTRUCTIONS, ids=[c[1] for c in CONSTRUCTIONS])
def test_construction(tree: Sentence, english: str, french: str) -> None:
    pair = realise(tree)
    assert pair.source_text == english
    assert pair.target_text == french
    assert {j for _, j in pair.possible} == set(range(len(pair.target)))


def test_a_question_agrees_with_what_has_moved() -> None:
    apples = np("apple", "how many", plural=True)
    eaten = Question(say("he", do(verbs.TRANSITIVE, "eat", Gap(apples)), tense=Tense.PERFECT), asked=apples)
    assert realise(eaten).target_text == "Combien de pommes est-ce qu'il a mangées ?"


def links(tree: Sentence) -> set[str]:
    pair = realise(tree)
    return {f"{pair.source[i]}-{pair.target[j]}" for i, j in pair.sure}


def test_both_halves_of_a_negation_are_linked_to_not() -> None:
    found = links(say("she", see(np("man")), negation=Negation.NOT, contracted=True))
    assert {"'t-ne", "'t-pas", "sees-voit"} & found == {"'t-ne", "'t-pas"}


def test_a_contracted_article_is_linked_to_both_its_parts() -> None:
    found = links(say("he", see(np("car", owner=np("king")))))
    assert {"'s-du", "the-du", "king-roi", "car-voiture"} <= found


def test_pronouns_are_linked_across_the_reordering() -> None:
    found = links(say("he", Action(GIVE, Pronoun("it"), Pronoun("she"))))
    assert {"He-Il", "gives-donne", "it-le", "her-lui"} <= found
