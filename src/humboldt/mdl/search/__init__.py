"""The search for the network with the shortest description. A search is not a model: what it finds is a network.

| file | what it holds |
| --- | --- |
| `settings` | how networks are searched for, and how the published search does it |
| `mdlrnn` | the few of these settings that a user of the BLISS suite may change |
| `islands` | islands, migration and restarts: `start` a search, and advance it |
| `resumable` | `search`: a whole search, saved from time to time and resumed where it was |
| `shortest_proved` | keeps the shortest network that is proved right for all n, beside the shortest one |
| `island` | one island's evolution, compiled |
| `state` | what a search knows, as plain arrays |
| `mutations`, `scale_mutation`, `genome_edits` | random changes to a network, and the small steps they are made of |
| `genome_lengths` | code length and hashes of a network as machine words, compiled |
| `random_numbers` | random numbers for compiled code |
"""

from humboldt.mdl.search.islands import Islands as Islands
from humboldt.mdl.search.islands import start as start
from humboldt.mdl.search.mdlrnn import MDLRNN as MDLRNN
from humboldt.mdl.search.mdlrnn import searches as searches
from humboldt.mdl.search.resumable import search as search
from humboldt.mdl.search.settings import SearchSettings as SearchSettings
from humboldt.mdl.search.shortest_proved import ShortestProved as ShortestProved
from humboldt.mdl.search.state import Progress as Progress
from humboldt.mdl.search.state import SearchState as SearchState
