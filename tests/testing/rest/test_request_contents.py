"""A conversation by REST: what follows what."""

from __future__ import annotations

from livetools.testing.rest.request_contents import AS_MANY, SIGNATURE, contents_fault, last_turn, merged


def of(role, *parts):
    return {"role": role, "parts": list(parts)}


USER, CALL, ANSWER = {"text": "a"}, {"functionCall": {"name": "f"}}, {"functionResponse": {"name": "f"}}


def test_what_the_model_said_in_several_contents_is_one():
    contents = [of("user", USER), of("model", {"text": "x"}), of("model", CALL), of("model", CALL)]
    assert merged(contents) == [of("user", USER), of("model", {"text": "x"}, CALL, CALL)]
    assert contents_fault([*contents, of("user", ANSWER, ANSWER)]) is None


def test_answers_of_one_step_stand_in_one_content():
    contents = [of("user", USER), of("model", CALL, CALL), of("user", ANSWER), of("user", ANSWER)]
    assert contents_fault(contents) == AS_MANY


def test_steps_may_follow_each_other_and_a_question_after_them():
    step = [of("model", CALL), of("user", ANSWER)]
    assert contents_fault([of("user", USER), *step, *step, of("model", USER), of("user", USER)]) is None


def test_a_signature_is_wanted_on_the_first_call_of_a_step_only():
    signed = {**CALL, "thoughtSignature": "AAAA"}
    contents = [of("user", USER), of("model", signed, CALL), of("user", ANSWER, ANSWER)]
    assert contents_fault(contents, signatures=True) is None
    unsigned = [of("user", USER), of("model", CALL, signed), of("user", ANSWER, ANSWER)]
    assert contents_fault(unsigned, signatures=True) == SIGNATURE


def test_the_last_turn_is_the_users_question_and_the_steps_since():
    contents = [
        of("user", {"text": "old"}),
        of("model", USER),
        of("user", USER),
        of("model", CALL),
        of("user", ANSWER),
    ]
    asked, after = last_turn(contents)
    assert asked == [of("user", USER)]
    assert after == contents[3:]
    assert last_turn([of("model", CALL)]) == ([], [of("model", CALL)])
