from __future__ import annotations

from tenure.allocator.lives_played import play_lives
from tenure.allocator.settings import AllocatorSettings, parse_settings

MIB = 1 << 20
DEFAULTS = AllocatorSettings()


def test_active_and_reserved_are_the_most_at_each_moment() -> None:
    # 4 MiB from before, 8 MiB born at 0 and dying there, 8 MiB born at 1 where the former lay, 16 MiB at 2
    played = play_lives([4 * MIB, 8 * MIB, 8 * MIB, 16 * MIB], [-1, 0, 1, 2], [-1, 0, 2, -1], 4, DEFAULTS)

    assert [size // MIB for size in played.active.tolist()] == [12, 12, 28, 20]
    assert [size // MIB for size in played.reserved.tolist()] == [20, 20, 36, 36]
    assert (played.fits, played.num_retries) == (True, 0)


def test_sizes_are_rounded_as_the_allocator_rounds_them() -> None:
    played = play_lives([1, 513], [-1, 0], [-1, -1], 1, DEFAULTS)

    assert (played.active.tolist(), played.reserved.tolist()) == ([512 + 1024], [2 * MIB])


def test_settings_decide_what_is_reserved() -> None:
    played = play_lives([12 * MIB + 512, 3 * MIB], [0, 0], [-1, -1], 1, parse_settings("expandable_segments:True"))

    assert played.reserved.tolist() == [20 * MIB]
    assert play_lives([12 * MIB + 512, 3 * MIB], [0, 0], [-1, -1], 1, DEFAULTS).reserved.tolist() == [34 * MIB]


def test_on_a_device_of_so_much_memory_cached_segments_go_back_or_requests_are_refused() -> None:
    lives = ([24 * MIB, 26 * MIB], [0, 1], [0, 1], 2, DEFAULTS)

    enough = play_lives(*lives, total_bytes=40 * MIB)
    assert (enough.fits, enough.num_retries, enough.reserved.tolist()) == (True, 1, [24 * MIB, 26 * MIB])
    assert not play_lives(*lives, total_bytes=25 * MIB).fits
