"""The measures of Hupkes et al. (2020): pure functions on lists of outputs, which are symbols separated by spaces."""

from humboldt.measures.pcfg_set._accuracy import held_out_pairs_of as held_out_pairs_of
from humboldt.measures.pcfg_set._accuracy import relative_drop as relative_drop
from humboldt.measures.pcfg_set._accuracy import same as same
from humboldt.measures.pcfg_set._accuracy import sequence_accuracy as sequence_accuracy
from humboldt.measures.pcfg_set._accuracy import sizes_of as sizes_of
from humboldt.measures.pcfg_set._accuracy import stops_early as stops_early
from humboldt.measures.pcfg_set._consistency import consistency as consistency
from humboldt.measures.pcfg_set._embeddings import EmbeddingDistances as EmbeddingDistances
from humboldt.measures.pcfg_set._embeddings import embedding_distances as embedding_distances
from humboldt.measures.pcfg_set._localism import Unrolled as Unrolled
from humboldt.measures.pcfg_set._localism import localism_consistency as localism_consistency
from humboldt.measures.pcfg_set._localism import longest_intermediate as longest_intermediate
from humboldt.measures.pcfg_set._localism import unroll as unroll
from humboldt.measures.pcfg_set._overgeneralisation import Epoch as Epoch
from humboldt.measures.pcfg_set._overgeneralisation import OvergeneralisationProfile as OvergeneralisationProfile
from humboldt.measures.pcfg_set._overgeneralisation import overgeneralisation_profile as overgeneralisation_profile
from humboldt.measures.pcfg_set._score import VERSION as VERSION
from humboldt.measures.pcfg_set._score import Score as Score
from humboldt.measures.pcfg_set._score import Share as Share
from humboldt.measures.pcfg_set._score import break_down as break_down
from humboldt.measures.pcfg_set._welch import WelchTest as WelchTest
from humboldt.measures.pcfg_set._welch import welch_test as welch_test
