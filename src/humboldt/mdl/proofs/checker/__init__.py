"""The checker of certificates. It imports the network and the errors, and nothing of the prover."""

from humboldt.mdl.proofs.checker.check import Rejected as Rejected
from humboldt.mdl.proofs.checker.check import check as check
