"""The only module from which proofs import the network."""

from humboldt.mdl.network import Edge as Edge
from humboldt.mdl.network import Network as Network
from humboldt.mdl.network import Unit as Unit
from humboldt.mdl.network import Weight as Weight
from humboldt.mdl.network import published_networks as published_networks
