"""Networks by minimum description length: the graph, its code length, its evaluation and its search.

The method is that of Lan, Geyer, Chemla and Katzir, "Minimum Description Length Recurrent Neural Networks" (TACL 2022).
Importing this imports NumPy and Numba, not JAX.
"""

from humboldt.models.mdl.activations import ACTIVATIONS as ACTIVATIONS
from humboldt.models.mdl.activations import EXTENDED_ACTIVATIONS as EXTENDED_ACTIVATIONS
from humboldt.models.mdl.activations import PAPER_ACTIVATIONS as PAPER_ACTIVATIONS
from humboldt.models.mdl.activations import WIDE_ACTIVATIONS as WIDE_ACTIVATIONS
from humboldt.models.mdl.convert import to_equinox as to_equinox
from humboldt.models.mdl.corpus import Trie as Trie
from humboldt.models.mdl.corpus import build_trie as build_trie
from humboldt.models.mdl.draw import to_dot as to_dot
from humboldt.models.mdl.draw import to_svg as to_svg
from humboldt.models.mdl.encoding import encoding_length as encoding_length
from humboldt.models.mdl.evaluate import DescriptionLength as DescriptionLength
from humboldt.models.mdl.evaluate import description_length as description_length
from humboldt.models.mdl.evaluate import evaluate as evaluate
from humboldt.models.mdl.evaluate import evaluate_slow as evaluate_slow
from humboldt.models.mdl.network import Edge as Edge
from humboldt.models.mdl.network import Network as Network
from humboldt.models.mdl.network import Unit as Unit
from humboldt.models.mdl.network import Weight as Weight
from humboldt.models.mdl.network import published_networks as published_networks
from humboldt.models.mdl.search import Islands as Islands
from humboldt.models.mdl.search import start as start
from humboldt.models.mdl.settings import SearchSettings as SearchSettings
from humboldt.models.mdl.state import Progress as Progress
from humboldt.models.mdl.state import SearchState as SearchState
from humboldt.models.mdl.stream import StateGraph as StateGraph
from humboldt.models.mdl.stream import Stepper as Stepper
