"""Measures of preference for a rule: agreement on hold-out inputs and description length (Kharitonov and Chaabouni)."""

from humboldt.measures.bias._agreement import Agreement as Agreement
from humboldt.measures.bias._agreement import PerfectAgreement as PerfectAgreement
from humboldt.measures.bias._agreement import Predictions as Predictions
from humboldt.measures.bias._agreement import SequenceAccuracy as SequenceAccuracy
from humboldt.measures.bias._agreement import check_complete as check_complete
from humboldt.measures.bias._agreement import fits_training as fits_training
from humboldt.measures.bias._agreement import perfect_agreement as perfect_agreement
from humboldt.measures.bias._agreement import sequence_accuracy as sequence_accuracy
from humboldt.measures.bias._curve import CurvePoint as CurvePoint
from humboldt.measures.bias._curve import per_example_curve as per_example_curve
from humboldt.measures.bias._description_length import DescriptionLengths as DescriptionLengths
from humboldt.measures.bias._description_length import LengthReport as LengthReport
from humboldt.measures.bias._description_length import LengthSummary as LengthSummary
from humboldt.measures.bias._description_length import Measured as Measured
from humboldt.measures.bias._description_length import RuleLength as RuleLength
from humboldt.measures.bias._description_length import description_lengths as description_lengths
from humboldt.measures.bias._description_length import summarise as summarise
from humboldt.measures.bias._description_length import uniform_nats as uniform_nats
from humboldt.measures.bias._schedule import Coded as Coded
from humboldt.measures.bias._schedule import Retraining as Retraining
from humboldt.measures.bias._schedule import curve_retraining_of as curve_retraining_of
from humboldt.measures.bias._schedule import curve_retrainings as curve_retrainings
from humboldt.measures.bias._schedule import measured as measured
from humboldt.measures.bias._schedule import num_blocks as num_blocks
from humboldt.measures.bias._schedule import retraining_of as retraining_of
from humboldt.measures.bias._schedule import retrainings as retrainings
from humboldt.measures.bias._statistics import Comparison as Comparison
from humboldt.measures.bias._statistics import Interval as Interval
from humboldt.measures.bias._statistics import fisher as fisher
from humboldt.measures.bias._statistics import wilson as wilson

VERSION = 1  # increases when the same predictions or nats can get another score
