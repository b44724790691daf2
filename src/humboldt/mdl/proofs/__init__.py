"""Proofs that a network is right about every string of a language, for all n. See docs/proofs.md."""

from humboldt.mdl.proofs.certificate_file import read_certificate as read_certificate
from humboldt.mdl.proofs.certificate_file import write_certificate as write_certificate
from humboldt.mdl.proofs.checker import Rejected as Rejected
from humboldt.mdl.proofs.checker import check as check
from humboldt.mdl.proofs.floating import float_size as float_size
from humboldt.mdl.proofs.prove import Proved as Proved
from humboldt.mdl.proofs.prove import Refuted as Refuted
from humboldt.mdl.proofs.prove import Unknown as Unknown
from humboldt.mdl.proofs.prove import Verdict as Verdict
from humboldt.mdl.proofs.prove import prove as prove
from humboldt.mdl.proofs.record import verdict_record as verdict_record
from humboldt.mdl.proofs.refute import Mistake as Mistake
