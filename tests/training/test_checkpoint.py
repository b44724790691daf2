from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.training._checkpoint import Checkpoints, Damaged, read, write

TREE = {"weights": jnp.arange(6.0).reshape(2, 3), "curve": np.array([1.0, np.nan])}


def same(a: dict, b: dict) -> bool:
    return all(np.array_equal(a[key], b[key], equal_nan=True) for key in a)


def test_what_was_written_is_read(tmp_path: Path):
    write(tmp_path / "x.ckpt", TREE, {"done": 7})
    tree, header = read(tmp_path / "x.ckpt", TREE)
    assert same(tree, TREE) and header["done"] == 7
    assert [path.name for path in tmp_path.iterdir()] == ["x.ckpt"]


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:20], lambda b: b"", lambda b: b[:-3] + b"xyz"])
def test_damage_is_noticed(tmp_path: Path, damage):
    path = tmp_path / "x.ckpt"
    write(path, TREE, {})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(Damaged, match=r"x\.ckpt"):
        read(path, TREE)


def test_a_checkpoint_of_another_shape_is_damage(tmp_path: Path):
    write(tmp_path / "x.ckpt", TREE, {})
    with pytest.raises(Damaged):
        read(tmp_path / "x.ckpt", {"weights": jnp.zeros((3, 3)), "curve": np.zeros(2)})


def test_the_newest_two_are_kept_and_the_newest_good_one_is_used(tmp_path: Path):
    checkpoints = Checkpoints(tmp_path)
    for done in (1, 2, 3):
        checkpoints.save(done, {"x": jnp.array([float(done)])})
    assert len(list(tmp_path.iterdir())) == 2
    like = {"x": jnp.zeros(1)}
    done, tree, complaints = checkpoints.latest(like)
    assert (done, float(tree["x"][0]), complaints) == (3, 3.0, [])
    newest = max(tmp_path.iterdir())
    newest.write_bytes(b"garbage")
    done, tree, complaints = checkpoints.latest(like)
    assert (done, float(tree["x"][0])) == (2, 2.0) and "Going back to the one before" in complaints[0]
    min(tmp_path.iterdir()).write_bytes(b"garbage")
    done, _, complaints = checkpoints.latest(like)
    assert done == 0 and "Starting from the beginning" in complaints[1]


def test_nothing_there_means_the_beginning(tmp_path: Path):
    done, tree, complaints = Checkpoints(tmp_path / "none").latest(TREE)
    assert done == 0 and tree is TREE and not complaints


def test_remove(tmp_path: Path):
    checkpoints = Checkpoints(tmp_path / "run")
    checkpoints.save(1, TREE)
    checkpoints.remove()
    assert not (tmp_path / "run").exists()
