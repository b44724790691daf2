"""The tasks of Kharitonov and Chaabouni (2021), *What they do when in doubt*, section 3 and appendices A and D."""

from humboldt.languages.bias.base import AbstractBiasTask as AbstractBiasTask
from humboldt.languages.bias.base import Pair as Pair
from humboldt.languages.bias.base import Rule as Rule
from humboldt.languages.bias.base import Symbols as Symbols
from humboldt.languages.bias.base import as_symbols as as_symbols
