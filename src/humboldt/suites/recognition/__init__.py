"""Recognition of formal languages: does a model tell strings of a language from others?"""

from humboldt.suites import suites
from humboldt.suites.recognition.suite import Recognition

suites.register("recognition", version=1)(Recognition())
