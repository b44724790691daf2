"""Languages that users bring as files: regular expressions, automata and context-free grammars."""
