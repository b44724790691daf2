"""Networks by minimum description length: the graph, its code length, and the code length of a corpus given it.

The method is that of Lan, Geyer, Chemla and Katzir, "Minimum Description Length Recurrent Neural Networks" (TACL 2022).
The search for such networks is in `humboldt.mdl.search`. Importing either imports NumPy and Numba, not JAX.

| file | contents |
| --- | --- |
| `network` | the graph: units, edges, weights as fractions; its JSON form; the published networks |
| `activations` | the activation functions of units |
| `network_bits` | the code length of a network |
| `trie` | a corpus as a prefix trie with counts |
| `corpus_bits` | the code length of a corpus given a network, slow and fast; the sum of both lengths |
| `steppers` | running a network on long strings |
| `reading` | a network with the interface of those in `humboldt.models` |
| `draw`, `convert` | a network as a picture, or as an Equinox model |
| `machine_words`, `execution_plan`, `state_merging` | the parts of the fast forms |
| `proofs` | proofs that a network is right about every string, for all n |
| `jit` | caches the compiled functions of this folder on disk |
"""

from humboldt.mdl.activations import ACTIVATIONS as ACTIVATIONS
from humboldt.mdl.activations import EXTENDED_ACTIVATIONS as EXTENDED_ACTIVATIONS
from humboldt.mdl.activations import PAPER_ACTIVATIONS as PAPER_ACTIVATIONS
from humboldt.mdl.activations import WIDE_ACTIVATIONS as WIDE_ACTIVATIONS
from humboldt.mdl.convert import to_equinox as to_equinox
from humboldt.mdl.corpus_bits import DescriptionLength as DescriptionLength
from humboldt.mdl.corpus_bits import data_bits as data_bits
from humboldt.mdl.corpus_bits import data_bits_slow as data_bits_slow
from humboldt.mdl.corpus_bits import description_length as description_length
from humboldt.mdl.draw import to_dot as to_dot
from humboldt.mdl.draw import to_svg as to_svg
from humboldt.mdl.network import Edge as Edge
from humboldt.mdl.network import Network as Network
from humboldt.mdl.network import Unit as Unit
from humboldt.mdl.network import Weight as Weight
from humboldt.mdl.network import published_networks as published_networks
from humboldt.mdl.network_bits import encoding_length as encoding_length
from humboldt.mdl.proofs import prove as prove
from humboldt.mdl.steppers import NetworkStepper as NetworkStepper
from humboldt.mdl.steppers import PlainStepper as PlainStepper
from humboldt.mdl.steppers import StateGraph as StateGraph
from humboldt.mdl.trie import Trie as Trie
from humboldt.mdl.trie import build_trie as build_trie
