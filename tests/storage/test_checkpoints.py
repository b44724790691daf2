import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from humboldt.errors import MissingExtra
from humboldt.storage import checkpoints
from humboldt.storage.checkpoints import Checkpoints, Damaged, Superseded, begin_attempt, last_attempt, read, write

ARRAYS = {
    "weights": np.arange(6.0).reshape(2, 3),
    "curve": np.array([1.0, np.nan, -0.0, np.inf], np.float32),
    "step": np.array(7, np.int64),
    "nothing": np.zeros((0, 3), np.uint8),
}


def same(some: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> bool:
    """The same names in the same order, types, shapes and bits."""
    return list(some) == list(others) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(some.values(), others.values(), strict=True)
    )


def test_what_was_written_is_read(tmp_path: Path):
    about = {"done": 7, "seed": 3, "text": "é\n∅", "nested": {"rates": [0.1, 1e-300], "none": None}}
    write(tmp_path / "x.ckpt", ARRAYS, about)
    arrays, said = read(tmp_path / "x.ckpt")
    assert same(arrays, ARRAYS) and said == about
    assert all(array.flags.writeable for array in arrays.values())
    assert [path.name for path in tmp_path.iterdir()] == ["x.ckpt"]


@pytest.mark.parametrize(
    "dtype",
    [
        *("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "F", "D"),
        *(">i4", ">f8", "S3", "U4", "U0", "V5", "datetime64[s]", "timedelta64[ms]"),
        [("a", "<f8"), ("b", ">i2", (2,)), ("c", [("d", "U3")])],
        np.dtype([("a", "i1"), ("b", "f8")], align=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)], ids=str)
def test_every_data_type_of_numpy(tmp_path: Path, dtype, shape):
    dtype = np.dtype(dtype)
    size = dtype.itemsize * int(np.prod(shape))
    content = np.random.default_rng(0).integers(0, 2, max(size, 1), np.uint8).tobytes()[:size]
    array = np.frombuffer(content, dtype).reshape(shape) if size else np.zeros(shape, dtype)
    write(tmp_path / "x.ckpt", {"x": array}, {})
    assert same(read(tmp_path / "x.ckpt")[0], {"x": array})


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4"])
def test_the_data_types_of_jax(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([[1, 2], [3, -4]]).astype(getattr(ml_dtypes, name))
    write(tmp_path / "x.ckpt", {"x": array}, {})
    assert same(read(tmp_path / "x.ckpt")[0], {"x": array})
    monkeypatch.setattr(np, "dtype", _without_extensions(np.dtype))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(MissingExtra, match="ml_dtypes"):  # not damage: the work must not be started anew
        read(tmp_path / "x.ckpt")


def _without_extensions(dtype):
    def parse(text):
        if text in ("bfloat16", "float8_e4m3fn", "int4"):
            raise TypeError(f"data type {text!r} not understood")
        return dtype(text)

    return parse


def test_arrays_that_are_not_contiguous(tmp_path: Path):
    array = np.arange(24).reshape(2, 3, 4)
    write(tmp_path / "x.ckpt", {"f": np.asfortranarray(array), "part": array[:, ::2, 1:3]}, {})
    arrays, _ = read(tmp_path / "x.ckpt")
    assert np.array_equal(arrays["f"], array) and np.array_equal(arrays["part"], array[:, ::2, 1:3])


def test_python_objects_are_refused_and_nothing_is_left(tmp_path: Path):
    with pytest.raises(TypeError, match="`x` has the data type object"):
        write(tmp_path / "x.ckpt", {"x": np.array([{}])}, {})
    with pytest.raises(TypeError, match="not JSON serializable"):
        write(tmp_path / "x.ckpt", {}, {"x": object()})
    assert not list(tmp_path.iterdir())


def test_every_changed_byte_and_every_cut_is_noticed(tmp_path: Path):
    path = tmp_path / "x.ckpt"
    write(path, {"x": np.arange(3, dtype=np.int16)}, {"done": 5})
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(Damaged, match=r"x\.ckpt"):
            read(path)
        path.write_bytes(content[:place])
        with pytest.raises(Damaged, match=r"x\.ckpt"):
            read(path)
    path.write_bytes(content + b"x")
    with pytest.raises(Damaged):
        read(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "a.weights")
    with pytest.raises(Damaged, match=r"`a\.weights` is not a plain file"):
        read(tmp_path / "a.weights")


def test_an_edited_header_is_damage(tmp_path: Path):
    store = Checkpoints(tmp_path)
    store.save(5, ARRAYS)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    assert content.count(b'"done": 5') == 1
    path.write_bytes(content.replace(b'"done": 5', b'"done": 9'))
    found = store.latest()
    assert found.done == 0 and not found.arrays and "does not match its checksum" in found.complaints[0]


def test_the_newest_two_are_kept_and_the_newest_good_one_is_used(tmp_path: Path):
    store = Checkpoints(tmp_path)
    for done in (1, 2, 3, 1_000_000_000):
        store.save(done, {"x": np.array([float(done)])}, {"seed": 4})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["done-000000003.ckpt", "done-1000000000.ckpt"]
    assert store.latest().done == 1_000_000_000 and store.latest().about == {"seed": 4}
    (tmp_path / "done-1000000000.ckpt").write_bytes(b"garbage")
    found = store.latest()
    assert found.done == 3 and found.arrays["x"] == 3.0
    assert len(found.complaints) == 1 and "Going back to the one before" in found.complaints[0]
    (tmp_path / "done-000000003.ckpt").write_bytes(b"")
    found = store.latest()
    assert found.done == 0 and "Starting from the beginning" in found.complaints[1]


def test_damaged_ones_do_not_push_out_good_ones(tmp_path: Path):
    store = Checkpoints(tmp_path)
    for done in (8, 9):
        store.save(done, ARRAYS)
        (tmp_path / f"done-{done:09d}.ckpt").write_bytes(b"garbage")
    assert store.latest().done == 0
    for done in (1, 2, 3):
        store.save(done, ARRAYS)
    found = Checkpoints(tmp_path).latest()
    assert found.done == 3 and not found.complaints
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_named_like_a_checkpoint_is_passed_over(tmp_path: Path):
    store = Checkpoints(tmp_path)
    store.save(1, ARRAYS)
    (tmp_path / "done-000000002.ckpt").mkdir()
    (tmp_path / "done-late.ckpt").mkdir()
    found = store.latest()
    assert found.done == 1 and same(found.arrays, ARRAYS) and len(found.complaints) == 1
    for done in (3, 4):
        store.save(done, ARRAYS)
    assert store.latest().done == 4 and (tmp_path / "done-000000003.ckpt").exists()
    store.remove()  # what is not a checkpoint stays
    assert sorted(path.name for path in tmp_path.iterdir()) == ["done-000000002.ckpt", "done-late.ckpt"]


@pytest.mark.parametrize("about", [{}, {"done": "3", "about": {}}, {"done": 3}], ids=str)
def test_a_missing_key_falls_back(tmp_path: Path, about: dict):
    store = Checkpoints(tmp_path)
    store.save(1, ARRAYS)
    write(tmp_path / "done-000000003.ckpt", ARRAYS, about)
    found = store.latest()
    assert found.done == 1 and "does not say how much work was done" in found.complaints[0]


def test_files_of_the_format_before_are_told_apart(tmp_path: Path):
    header = json.dumps({"format": "humboldt checkpoint 1", "sha256": "", "done": 2}).encode()
    (tmp_path / "done-000000002.ckpt").write_bytes(header + b"\nbody")
    found = Checkpoints(tmp_path).latest()
    assert found.done == 0 and "does not begin with `humboldt checkpoint 2`" in found.complaints[0]


def test_nothing_there_means_the_beginning(tmp_path: Path):
    assert Checkpoints(tmp_path / "none").latest() == (0, {}, {}, [])
    assert not (tmp_path / "none").exists()


def test_a_failed_write_leaves_the_old_content_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = Checkpoints(tmp_path)
    store.save(1, ARRAYS)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.save(2, ARRAYS)
    assert [path.name for path in tmp_path.iterdir()] == ["done-000000001.ckpt"]


def test_litter_of_killed_processes_goes_and_that_of_living_ones_stays(tmp_path: Path):
    store = Checkpoints(tmp_path)
    for name, age in (("old.tmp", 2 * checkpoints.STALE_SECONDS), ("new.tmp", 0)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    store.save(1, ARRAYS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["done-000000001.ckpt", "new.tmp"]
    store.remove()
    assert not tmp_path.exists()


SAVES_OFTEN = """
import sys
from pathlib import Path
import numpy as np
from humboldt.storage.checkpoints import Checkpoints
store = Checkpoints(Path(sys.argv[1]))
for done in range(1, 60):
    store.save(done, {"x": np.full(5000, int(sys.argv[2]))})
"""


def test_two_processes_at_once_never_mix_their_files(tmp_path: Path):
    processes = [subprocess.Popen([sys.executable, "-c", SAVES_OFTEN, str(tmp_path), value]) for value in "12"]
    seen = set()
    while any(process.poll() is None for process in processes):
        # One that is pruned between listing and reading is complained about; what is read is never a mixture.
        values = np.unique(Checkpoints(tmp_path).latest().arrays.get("x", [])).tolist()
        assert values in ([], [1], [2])
        seen |= set(values)
    assert [process.returncode for process in processes] == [0, 0] and seen
    assert Checkpoints(tmp_path).latest().done == 59


KILLED = """
import sys
from pathlib import Path
import numpy as np
from humboldt.storage.checkpoints import Checkpoints
store, done = Checkpoints(Path(sys.argv[1])), 0
while True:
    done += 1
    store.save(done, {"x": np.full(200_000, done)}, {"done_too": done})
    print(done, flush=True)
"""


def test_killed_at_any_moment_there_is_a_whole_checkpoint(tmp_path: Path):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = 0
    while told < 5:
        told = int(process.stdout.readline())
    time.sleep(0.013)
    process.kill()
    told = max([told, *map(int, process.stdout.read().split())])
    process.wait()
    process.stdout.close()
    found = Checkpoints(tmp_path).latest()
    assert found.done >= told and not found.complaints
    assert np.all(found.arrays["x"] == found.done) and found.about == {"done_too": found.done}


def test_it_needs_no_jax():
    code = "import sys, humboldt.storage.checkpoints; sys.exit('jax' in sys.modules or 'ml_dtypes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_later_attempt_goes_on_from_an_earlier_one_and_is_newer_however_little_it_has_done(tmp_path: Path):
    first = Checkpoints(tmp_path, attempt=begin_attempt(tmp_path))
    first.save(500, {"x": np.array([1.0])})
    second = Checkpoints(tmp_path, attempt=begin_attempt(tmp_path))
    assert (first.attempt, second.attempt) == (1, 2) and second.latest().done == 500
    second.save(100, {"x": np.array([2.0])})
    found = Checkpoints(tmp_path).latest()
    assert found.done == 100 and found.arrays["x"] == 2.0


def test_a_forgotten_process_can_neither_replace_nor_remove_what_a_later_one_saves(tmp_path: Path):
    forgotten = Checkpoints(tmp_path, attempt=begin_attempt(tmp_path))
    forgotten.save(10, {"x": np.zeros(1)})
    later = Checkpoints(tmp_path, attempt=begin_attempt(tmp_path))
    later.save(20, {"x": np.ones(1)})
    before = sorted(path.name for path in tmp_path.iterdir())
    for saved in (forgotten, forgotten.part("search-1")):
        with pytest.raises(Superseded, match="Another process has taken over"):
            saved.save(30, {"x": np.zeros(1)})
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    later.part("search-1").save(5, {"x": np.ones(1)})
    assert later.part("search-1").latest().done == 5
    later.remove()
    with pytest.raises(Superseded):  # the work is done: nothing is left behind
        forgotten.save(40, {"x": np.zeros(1)})


def test_attempts_that_begin_at_once_have_numbers_of_their_own(tmp_path: Path):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: begin_attempt(tmp_path / "new"), range(40)))
    assert sorted(numbers) == list(range(1, 41)) and last_attempt(tmp_path / "new") == 40


def test_saving_takes_at_most_a_tenth_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock = [100.0]
    monkeypatch.setattr("humboldt.storage.checkpoints.time.monotonic", lambda: clock[0])
    kept = Checkpoints(tmp_path, save_seconds=30)

    def after(seconds: float) -> bool:
        clock[0] += seconds
        return kept.due()

    assert not after(29) and after(1)
    clock[0] += 12  # what it takes to bring the weights here and to write them
    kept.save(1, ARRAYS)
    assert not after(119) and after(1)
    clock[0] += 1
    kept.save(2, ARRAYS)
    assert not after(29) and after(1)
    kept.save(3, ARRAYS)
    kept.save(4, ARRAYS)  # at the end nobody asks
    assert Checkpoints(tmp_path, save_seconds=0).due()
