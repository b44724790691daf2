"""Drops compiled programs, which stay in memory, before the system refuses to compile another."""

from pathlib import Path

SHARE = 0.5  # of the memory maps that Linux permits a process; a training has a few thousand
MAPS, MOST_MAPS = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")


def forget_programs() -> bool:
    """Drops all compiled programs if this process is near the limit of its memory maps; returns whether it did.

    Every program on a CPU takes many memory maps. About eighty small trainings in one process reach Linux's default
    limit of 65,530, after which LLVM reports that it cannot allocate memory.
    """
    try:
        with MAPS.open("rb") as file:
            used = sum(1 for _ in file)
        most = int(MOST_MAPS.read_text())
    except (OSError, ValueError):  # not Linux
        return False
    if used <= SHARE * most:
        return False
    import jax

    jax.clear_caches()
    return True
