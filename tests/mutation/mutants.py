# SPDX-License-Identifier: Apache-2.0
"""Small changes of a C file: operators, constants, conditions, dropped statements, returned values. A tokenizer is enough: what
it takes wrong does not compile and is not counted. Left alone: comments, texts, preprocessor lines, and claims that hold
whatever the input (FW_CHECK, static_assert, hints to the compiler)."""
import re

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<preprocessor>^[ \t]*\#(?:[^\n\\]|\\\n|\\.)*)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)[uUlLfF]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])
""", re.VERBOSE | re.MULTILINE | re.DOTALL)
BINARY = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="], "+": ["-"], "-": ["+"],
          "*": ["/"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["|"], "&&": ["||"], "||": ["&&"]}
ASSIGNING = {"+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "++": ["--"], "--": ["++"], "<<=": [">>="], ">>=": ["<<="]}
ALLOCATORS = {"arena_array", "arena_take"}  # more memory than is needed changes nothing
CLAIMS = {"FW_CHECK", "static_assert", "_Static_assert", "__builtin_prefetch", "prefetch", "__attribute__", "assert"}
KEYWORDS = {"return", "if", "while", "for", "switch", "case", "else", "do", "sizeof", "goto"}


class Mutant:
    """A text in place of source[start:end]."""

    def __init__(self, path, source, start, end, text, what):
        self.path, self.start, self.end, self.text, self.what = path, start, end, text, what
        self.line = source.count("\n", 0, start) + 1
        self.was = " ".join(source[start:end].split())
        self.source_line = source.splitlines()[self.line - 1].strip()

    def apply(self, source):
        return source[:self.start] + self.text + source[self.end:]

    def key(self):
        """What stays when lines move."""
        return f"{self.path}: {self.source_line}: {self.what}"

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}: {self.source_line}"


class Token:
    def __init__(self, match):
        self.kind, self.text, self.start, self.end = match.lastgroup, match.group(), match.start(), match.end()


def tokens_of(source):
    found = [Token(match) for match in TOKEN.finditer(source)]
    return [token for token in found if token.kind not in ("comment", "preprocessor")]


def closing(tokens):
    """{place of an opening bracket: place of the closing one}"""
    pairs, stack = {}, []
    for place, token in enumerate(tokens):
        if token.text in ("(", "[", "{") and token.kind == "sign":
            stack.append(place)
        elif token.text in (")", "]", "}") and token.kind == "sign" and stack:
            pairs[stack.pop()] = place
    return pairs


def left_alone(tokens, pairs):
    """Places of tokens within claims."""
    within = set()
    for place, token in enumerate(tokens[:-1]):
        if token.text in CLAIMS and place + 1 in pairs:
            within.update(range(place, pairs[place + 1] + 1))
    return within


def is_memory(tokens, place):
    """A number that is an argument of an allocation by itself."""
    if tokens[place + 1].text != ")" or tokens[place - 1].text != ",":
        return False
    return any(token.text in ALLOCATORS for token in tokens[max(0, place - 12):place])


def ends_operand(token):
    return token.kind in ("number", "text") or token.text in (")", "]") or (token.kind == "word" and token.text not in KEYWORDS)


def is_array_size(tokens, place):
    """Of `type name[8];`, not of an index."""
    if place < 3 or tokens[place - 1].text != "[" or tokens[place + 1].text != "]":
        return False
    before = tokens[place - 3]
    return before.text == "*" or (before.kind == "word" and before.text not in KEYWORDS)


def number_changes(text):
    digits, suffix = re.match(r"(0[xX][0-9a-fA-F]+|[\d.eE+-]+)(.*)", text).groups()
    if "." in digits or ("e" in digits.lower() and not digits.lower().startswith("0x")):
        return [f"({text} + 1)"]
    value = int(digits, 0) if digits.lower().startswith("0x") or not digits.startswith("0") else int(digits, 8)
    return [f"{other}{suffix}" for other in ([1] if value == 0 else [0, 2] if value == 1 else [value - 1, value + 1])]


def token_mutants(source, tokens, alone):
    for place, token in enumerate(tokens):
        if place in alone or place == 0 or place + 1 == len(tokens):
            continue
        last = tokens[place - 1]
        if token.kind == "sign" and token.text in BINARY and ends_operand(last):
            if token.text in "*&" and source[token.end] not in " \n":
                continue  # of a pointer
            for other in BINARY[token.text]:
                yield token.start, token.end, other, f"'{token.text}' -> '{other}'"
        elif token.kind == "sign" and token.text in ASSIGNING:
            for other in ASSIGNING[token.text]:
                yield token.start, token.end, other, f"'{token.text}' -> '{other}'"
        elif token.kind == "sign" and token.text in ("!", "~"):
            yield token.start, token.end, "", f"'{token.text}' dropped"
        elif token.text in ("true", "false"):
            other = "false" if token.text == "true" else "true"
            yield token.start, token.end, other, f"{token.text} -> {other}"
        elif token.kind == "number" and not is_array_size(tokens, place) and not is_memory(tokens, place):
            for other in number_changes(token.text):
                yield token.start, token.end, other, f"{token.text} -> {other}"


def condition_mutants(source, tokens, pairs, alone):
    for place, token in enumerate(tokens[:-1]):
        if token.text not in ("if", "while") or place in alone or place + 1 not in pairs:
            continue
        start, end = tokens[place + 1].end, tokens[pairs[place + 1]].start
        condition = source[start:end]
        yield start, end, f"!({condition})", "condition negated"
        yield start, end, f"({condition}) && 0", "condition never true"
        if token.text == "if":
            yield start, end, f"({condition}) || 1", "condition always true"


def statement_start(tokens, place, pairs):
    """Does a statement begin at this token? After another's end, an opening brace, or a condition."""
    last = tokens[place - 1].text
    if last in (";", "{", "}", "else", "do"):
        return True
    if last == ":" and place >= 3:
        return tokens[place - 3].text == "case" or tokens[place - 2].text == "default"
    if last == ")":
        opened = next((a for a, b in pairs.items() if b == place - 1), 0)
        return opened > 0 and tokens[opened - 1].text in ("if", "while", "for", "switch")
    return False


def statement_mutants(source, tokens, pairs, alone):
    reverse_for = {p + 1 for p, token in enumerate(tokens[:-1]) if token.text == "for"}
    heads = set()  # tokens within the heads of loops
    for opened in reverse_for:
        if opened in pairs:
            heads.update(range(opened, pairs[opened] + 1))
    depth = 0
    for place, token in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "sign" else 0
        if depth == 0 or place in alone or place in heads or place == 0 or not statement_start(tokens, place, pairs):
            continue
        end = place
        while end < len(tokens) and tokens[end].text not in (";", "{", "}"):
            end += 1
        if end == len(tokens) or tokens[end].text != ";":
            continue
        words = [one.text for one in tokens[place:end]]
        if not words or words[0] in ("(", "if", "while", "for", "switch", "else", "do", "case", "default", "goto"):
            continue
        start, stop = token.start, tokens[end].start
        if words[0] == "return":
            value = source[token.end:stop].strip()
            if value and value not in ("true", "false", "0", "1", "NULL"):
                yield start, stop, f"return !({value})", "returned value negated"
                yield start, stop, "return 0", "returns 0"
        elif words[0] in ("break", "continue") or is_effect(tokens[place:end]):
            yield start, stop, "", "statement dropped"


def is_effect(tokens):
    """A call or an assignment; no declaration, which has two words in a row."""
    if tokens[0].kind != "word" and tokens[0].text not in ("*", "++", "--"):
        return False
    texts = [token.text for token in tokens]
    if len(tokens) > 1 and tokens[0].kind == "word" and (tokens[1].kind == "word" or tokens[0].text in ("const", "static", "struct")):
        return False
    if len(tokens) > 2 and tokens[0].kind == "word" and tokens[1].text == "*" and tokens[2].kind == "word":
        return False
    return any(text in texts for text in ("(", "=", "++", "--", *ASSIGNING, "*=", "/=", "%=", "^="))


def mutants_of(path, source):
    """All small changes of a file, in the order of their places."""
    tokens = tokens_of(source)
    pairs = closing(tokens)
    alone = left_alone(tokens, pairs)
    found = [*token_mutants(source, tokens, alone), *condition_mutants(source, tokens, pairs, alone),
             *statement_mutants(source, tokens, pairs, alone)]
    return [Mutant(path, source, *one) for one in sorted(set(found))]
