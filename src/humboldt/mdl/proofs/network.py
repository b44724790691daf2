"""The one place from which proofs import the network."""

from humboldt.models.mdl.network import Edge as Edge
from humboldt.models.mdl.network import Network as Network
from humboldt.models.mdl.network import Unit as Unit
from humboldt.models.mdl.network import Weight as Weight
from humboldt.models.mdl.network import published_networks as published_networks
