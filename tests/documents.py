"""Documents of all formats that are text."""

from __future__ import annotations


def documents(text: str) -> dict[str, str]:
    """A document of each format but HTML and DOCX, with one text, by its name."""
    message = f"<message><source>{text}</source><translation></translation></message>"
    unit = f'<trans-unit id="1"><source>{text}</source></trans-unit>'
    return {
        "a.po": f'msgid ""\nmsgstr ""\n"Language: fr\\n"\n\nmsgid "{text}"\nmsgstr ""\n',
        "a.xlf": f'<xliff version="1.2"><file source-language="en">{unit}</file></xliff>',
        "a.ts": f'<TS version="2.1" language="fr"><context>{message}</context></TS>',
        "strings.xml": f'<resources><string name="a">{text}</string></resources>',
        "a.resx": f'<root><resheader name="version"/><data name="a"><value>{text}</value></data></root>',
        "a.strings": f'/* a */\n"key" = "{text}";\n',
        "a.ftl": f"key = {text}\n",
        "a.json": f'{{"key": "{text}"}}',
        "a.srt": f"1\n00:00:01,000 --> 00:00:05,000\n{text}\n",
        "a.md": f"- {text}\n\n`code`\n",
    }
