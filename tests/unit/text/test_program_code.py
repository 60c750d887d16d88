"""Lines of programs stay as they are; ordinary text with the same signs does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.text.program_code import is_program_code
from rnnsearch.translation.sentences import as_passage, has_words

CODE = """
print("Hello, world! How are you?")
console.log('hi');
foo(); bar();
if (a > b) return a;
for (int i = 0; i < 10; i++) {
} else {
});
return x + 1;
const x = 5;
public static void main(String[] args) {
std::cout << "Hello";
#include <stdio.h>
def add(a, b):
class Foo(Bar):
for x in range(10):
if x == 3:
import numpy as np
from os import path, sep
SELECT * FROM users WHERE id = 42;
UPDATE users SET name = 'x';
pip install rnnsearch
$ ls -la
git commit -m "Fix the bug"
git push origin main
docker run -it ubuntu
cd /home/anna
chmod +x run.sh
curl https://example.org
sudo apt-get install python3
{"name": "Anna", "age": 5}
"name": "value",
body { color: red; }
<?php echo "x"; ?>
""".strip().splitlines()
TEXT = """
Select a file from the list; then press Enter.
Item(s) not found
Marié(e)
Hello {}
if (and only if) it rains, stay at home.
for (small) dogs (and cats)
public aid for the renewal of the fleet;
while you wait:
From the list, import contacts
import path
The class Foo is small:
Let x = 5 and y = 6.
curl your hair
cd player
docker container
ssh connection 2
git is a program
"Hello": that is how a letter begins.
1. Update the system set in the menu.
Update your settings, set a password
""".strip().splitlines()


@pytest.mark.parametrize("line", CODE)
def test_code_stays_whole(line: str) -> None:
    for indented in (line, f"    {line}  "):
        assert is_program_code(indented)
        assert not has_words(indented)
        assert as_passage(indented, "en").sentences == [line]


@pytest.mark.parametrize("line", TEXT)
def test_ordinary_text_is_translated(line: str) -> None:
    assert not is_program_code(line)
    assert has_words(line)


@given(st.text(alphabet="if(a){}[];=\"': .,#$<>", max_size=400))
def test_no_line_takes_long(line: str) -> None:
    """A pattern that backtracks without end would not come back from one of these."""
    is_program_code(line)
