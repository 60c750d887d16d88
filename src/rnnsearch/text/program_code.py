"""Lines of programs, commands and data among ordinary text, which stay as they are.

`print("Hello, world!")` has words in it, but a translation of it is no program any more. A line is recognised as a whole,
and is ordinary text in case of doubt.
"""

from __future__ import annotations

from rnnsearch.text.expressions import Expression

_NAME = r"[A-Za-z_$][A-Za-z\d_$]*+(?:(?:\.|::|->)[A-Za-z_$][A-Za-z\d_$]*+)*+"
_ARGUMENTS = r"(?:|\s*[\"'\d\[{&*@-].*)"
"""Those that show that a bracket is no remark and no ending, as in *item(s)*."""
_CALL = rf"(?:{_NAME}\({_ARGUMENTS}\)|(?=[\w$]+(?:[._]|::|->)|.*;\s*$){_NAME}\(.*\))"
_TYPE = (
    r"(?:(?:const|let|var|static|public|private|protected|final|abstract|unsigned|int|long|float|double|char|void|bool"
    r"|boolean|[sS]tring|auto) )++"
)
_COMMANDS = "sudo|chmod|chown|cd|mkdir|curl|wget|ssh|scp|rsync|docker|kubectl|systemctl"
_PATTERNS = (
    rf"(?:await |return |new |echo |{_TYPE}|{_NAME}\s*[-+*/|&:]?=\s*)*+{_CALL}(?:\.{_NAME}(?:\(.*\))?)*+\s*[;:{{]?",
    r"(?:if|for|while|switch|else if|elseif|catch|foreach)\s*\(.*\).*[;{}]",  # statements of languages like C
    r"(?:\}\s*)?else\s*\{|[{}\[\]()]+[;,]?|(?:break|continue)\s*;",
    r"(?:return|throw|goto|using|package)(?: [^\s;]+(?: [-+*/%<>=!&|?:]+ [^\s;]+)*+)?;",
    r"(?:std::)?c(?:out|err|in) (?:<<|>>) .*;",
    rf"{_TYPE}[\w<>\[\],*&]+(?: \w+)?\s*(?:=.*;?|\(.*\)\s*[{{;]?|;|\{{)",
    rf"{_NAME}(?:\[[^\]]*\])?\s*(?:[-+*/%|&^]|<<|>>|:)?=\s*\S.*;|{_NAME}(?:\+\+|--);",
    r"#(?:include\s*[<\"].*|define \w+.*|!\s*/\S+.*)|<\?(?:php|xml).*|<!DOCTYPE .*>",
    r"(?:async )?def \w+\(.*\).*:|class \w+(?:\(.*\))?:|from [\w.]+ import (?:\*|[\w.]+(?:(?:, ?| as )\w+)*)",  # Python
    r"import (?:os|sys|re|json|math|time|random|\w+\.[\w.]+|\w+(?:, ?\w+)+|[\w.]+ as \w+);?|el(?:if [\w.()\[\] <>=!]+|se):",
    r"(?:el)?if [^.?!]*(?:[=!<>]=|[<>]|\bnot\b|\bin\b|\()[^.?!]*:|for \w+(?:, ?\w+)* in .*:",
    r"while [^,]*(?:[=!<>]=|[<>]|\bTrue\b).*:",
    r"(?:function|func|fn)\s+\w+\s*(?:<.*>)?\(.*\).*[{]?",
    r"(?:SELECT\b.+\bFROM|INSERT INTO|UPDATE\b.+\bSET|DELETE FROM|(?:CREATE|ALTER|DROP) (?:TABLE|INDEX|VIEW|DATABASE))\s.+",
    r"(?:[$#>]\s+)?(?:sudo\s+)?(?:pip3?|npm|yarn|apt|apt-get|brew|conda|dnf|cargo|gem) "
    r"(?:install|update|remove|run|add|i)\b(?: [\w@./=<>~^\[\]:-]+)*",
    r"(?:[$#>]\s+)?git (?:add|branch|checkout|clone|commit|diff|fetch|init|log|merge|pull|push|rebase|reset|status|tag)\b"
    r"(?: (?:-|\.|\"|[\w./:@~^-]+(?=$| )).*)?",
    r"[$]\s+[a-z][\w./-]*(?:\s.*)?|"
    rf"(?:{_COMMANDS})(?=.*(?:[/~@=]| [-+]\w|\.\w)) [-+]?[\w./~:@-]+(?: .*)?",
    r"[\[{]\s*(?:\"[^\"]*\"\s*[:,].*|\{.*)[\]}],?|\"[\w-]+\":\s*(?:\".*\"|[\d.]+|true|false|null|[\[{].*),?",  # JSON
    r"[.#]?[\w-]+(?:[ ,>.:#][\w. ,>:#-]*)?\s*\{(?:\s*(?:[a-z-]+:\s*[^;{}]+;?\s*)++\}?)?",  # style sheets
)
_LINE = Expression(r"\s*(?:" + "|".join(_PATTERNS) + r")\s*")
_TRIGGER = Expression(
    r"[(){}\[\];=#$<>]|\b(?:import|git|pip3?|npm|yarn|apt|apt-get|brew|conda|dnf|cargo|gem|FROM|INTO|SET)\b"
    rf"|:\s*$|^\s*(?:{_COMMANDS}|\"|DROP|CREATE|ALTER)"
)
"""A line without a match of this is no code."""
_LONGEST = 400
"""A line of more characters is not examined."""


def is_program_code(line: str) -> bool:
    """Return whether a line is one of a program, a command for a terminal, or data such as JSON."""
    return len(line) <= _LONGEST and _TRIGGER.search(line) is not None and _LINE.fullmatch(line) is not None
