"""Networks for one example. Every file here is a model: a class of settings, registered under the file's name.

```python
@models.register("my_rnn", version=1)
@settings
class MyRNN:
    hidden_size: int = setting(256, "units of the recurrent layer", "appendix A.2", least=1)

    title: ClassVar[str] = "My RNN"  # in tables
    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.TRANSDUCTION,)  # the kinds that its network accepts
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 6}  # a small network of this kind, for checks and tests

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> MyNetwork: ...
```

Settings import no JAX; `build` does. The parts that networks are made of are in folders: `layers/`, `cells/` and the
`memories/` that they can hold, the `loop/` over time, whole `networks/`, and in `zoo/shared/` the settings that several
models share. `stepping/` reads strings with trained networks.

## What a network receives and returns

`build` is given the number of token ids (`input_size`), of which the first `num_symbols` are symbols and the others
marks, and the number of symbols to choose answers from (`output_size`). It returns an Equinox module for one example,
without a batch axis. Tokens are `int32`, masks are `bool` and true for real tokens: padding is at the end and must not
change anything. Logits are unnormalised. With a `key` dropout is on, without one it is off.

- **Transduction**: `network(tokens, mask, *, key=None) -> logits`, shapes `(time,)`, `(time,)` and `(time, out)`. The
  input is followed by one mark `∅` for every symbol of the answer, and the logits at these marks are the answer. Where
  a network is given its previous answers, these replace all marks but the first.
- **Next symbol**: the same shapes. The logits at a step are those of the next token, and may depend only on tokens up
  to this step. A network that BLISS is to measure is derived from `networks.base.AbstractStepwise`, and so has
  `start(tokens, mask, key) -> state` and `step(state, token) -> (state, logits)`.
- **Classification**: the same shapes. The answer is read at the last real token; a network that has one answer for the
  whole string repeats it at every step.
- **Sequence to sequence**: source and target have time axes of their own.
  `network(source, source_mask, target_in, target_mask, *, key=None) -> logits`, shapes `(source_time,)` twice,
  `(target_time,)` twice and `(target_time, out)`. `target_in` is the target one step late, after a start mark; the
  logits at a step are those of the target's symbol at that step. For greedy decoding it has
  `encode(source, source_mask) -> memory`, `start(memory, longest) -> state`, where `longest` is the most symbols that
  will be asked for, and `step(state, token) -> (state, logits)`.

A network that is derived from `networks.base.AbstractInspectable` exposes its internals: `inspect(tokens, mask)`
returns named arrays with named axes (`humboldt.core.internals.Internal`), for `humboldt.load` and `humboldt inspect`.
"""

from importlib.util import find_spec
from typing import Any

from humboldt.errors import UsageError
from humboldt.registry import Registry


def _check_outside(name: str, model: Any) -> None:
    """Checks a model from outside Humboldt, by `check_model` where JAX is installed."""
    if not getattr(model, "problems", ()):
        raise UsageError(
            f"The model {name!r} does not declare which problems it accepts, so no suite can use it. Add e.g. "
            "`problems = (ProblemKind.TRANSDUCTION,)` to the class, with `from humboldt import ProblemKind`."
        )
    if find_spec("jax") is None or find_spec("equinox") is None:
        return
    from humboldt.models.networks.check import check_model

    check_model(name, model)


models: Registry[Any] = Registry("model", "humboldt.models.zoo", folders=("family",), check=_check_outside)
