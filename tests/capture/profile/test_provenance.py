from __future__ import annotations

from tenure.capture.profile.provenance import Meeting, rows_on_device, that_meet


def meeting(*used: int, made: int, picks: bool = False, numbers: tuple[int, ...] = ()) -> Meeting:
    return Meeting(tuple((row, 10 * row) for row in used), numbers, (made,), picks)


def found(
    *meetings: Meeting, known: tuple[int, ...], from_before: tuple[int, ...] = (), elsewhere: tuple[int, ...] = ()
) -> list[int]:
    return sorted(rows_on_device(meetings, known, from_before=from_before, elsewhere=elsewhere))


def test_what_meets_the_device_by_way_of_operations_alone_lies_there_too() -> None:
    scaled, other, mixed, times_weight = (
        meeting(1, made=3), meeting(2, made=4), meeting(3, 4, made=5), meeting(5, 6, made=7),
    )  # fmt: skip
    apart = meeting(8, made=9)

    assert found(scaled, other, mixed, times_weight, apart, known=(6,)) == [1, 2, 3, 4, 5, 6, 7]


def test_the_most_that_one_operation_used_is_told() -> None:
    first, second = Meeting(((1, 40),), (), (2,)), Meeting(((1, 70), (3, 5)), (), (4,))

    assert rows_on_device([first, second], [3]) == {1: 70, 2: 0, 3: 5, 4: 0}


def test_what_batches_are_picked_from_before_the_steps_is_not_drawn_in_by_them() -> None:
    picked, used = meeting(1, made=2, picks=True), meeting(2, 3, made=4)

    assert found(picked, used, known=(3,), from_before=(1,)) == [2, 3, 4]
    assert found(picked, used, known=(3,)) == [1, 2, 3, 4]
    assert found(meeting(1, 3, made=4, picks=True), known=(3,), from_before=(1,)) == [1, 3, 4]


def test_a_number_may_stay_on_the_host_and_tells_where_there_is_nothing_else() -> None:
    assert found(meeting(1, made=2, numbers=(3,)), known=(1,)) == [1, 2]
    assert found(meeting(1, made=2, numbers=(3,)), known=(3,)) == [1, 2, 3]
    assert found(meeting(made=2, numbers=(3,)), known=(2,)) == [2, 3]


def test_a_copy_on_the_host_is_not_drawn_in_by_what_is_made_as_large() -> None:
    assert found(meeting(1, made=2), known=(2,), elsewhere=(1,)) == [2]


def test_copies_to_a_device_and_indices_tell_nothing() -> None:
    assert that_meet("aten._to_copy.default", "a", ("dtype",)) == "a"
    assert that_meet("aten._to_copy.default", "a", ("dtype", "device")) == ()
    assert that_meet("aten.copy_.default", "ab", ()) == "a"
    assert that_meet("aten.index.Tensor", "aij", ()) == "a"
    assert that_meet("aten.index_put_.default", "aijv", ()) == ("a", "v")
    assert that_meet("aten.add.Tensor", "ab", ()) == "ab"
