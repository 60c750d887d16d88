"""*Tu* and *vous* in one sentence."""

import pytest

from rnnsearch.text.address import mixes_address


@pytest.mark.parametrize(
    ("text", "mixed"),
    [
        ("Tu as oublié votre voiture.", True),
        ("Quand tu arrives, appelez votre sœur.", True),
        ("Je t'ai vu avec vos amis.", True),
        ("Je t' ai vu avec vos amis .", True),
        ("Tu as rendez-vous avec ta sœur ?", False),
        ("Appelez votre sœur.", False),
        ("Appelle ta sœur.", False),
        ("Le statut de l'institut, un rendez-vous", False),
    ],
)
def test_mixed_address(text: str, mixed: bool) -> None:
    assert mixes_address(text, "fr") is mixed
    assert not mixes_address(text, "en")
