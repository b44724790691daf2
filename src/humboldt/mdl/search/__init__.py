"""The search for the network with the shortest description. A search is not a model: its result is a network.

| file | contents |
| --- | --- |
| `settings` | settings of searches, and those of the published search |
| `mdlrnn` | the few of these settings that a user of the BLISS suite may change |
| `islands` | islands, migration and restarts: `start` a search, and advance it |
| `resumable` | `search`: a whole search, saved periodically and resumable |
| `shortest_proved` | keeps the shortest network that is proved right for all n, beside the shortest one |
| `island` | one island's evolution, compiled |
| `state` | the state of a search, as plain arrays |
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
