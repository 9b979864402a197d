"""Embeddings with the cache against the model's own forward pass."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.errors import InvalidOption

torch = pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("transformers", reason="needs the extra portrait")

from engines.text_encoder.encoder import ClipEncoder  # noqa: E402
from engines.text_encoder.policy import Policy  # noqa: E402

START, END, WINDOW = 49406, 49407, 77
Make = Callable[[str], Any]
WORDS = st.lists(st.integers(300, 305), max_size=20)
TOLERANCE = {"float32": 1e-5, "bfloat16": 0.06, "float16": 0.01}  # of values of some 3; half types round in another order


def row(words: list[int], padded: bool = True) -> list[int]:
    ids = [START, *words, END]
    return ids + [END] * (WINDOW - len(ids)) if padded else ids


def plain(model: Any, ids: list[int]) -> tuple[Any, Any, Any]:
    """The model's own answer: the last hidden state, all of them, and the pooled one."""
    with torch.no_grad():
        out = model(torch.tensor([ids]), output_hidden_states=True)
    return out.last_hidden_state[0], out.hidden_states, (out.text_embeds if hasattr(out, "text_embeds") else out.pooler_output)[0]


def off(a: Any, b: Any) -> float:
    return float((a - b).abs().max())


@pytest.mark.parametrize("padded", [True, False], ids=["padded", "unpadded"])
@pytest.mark.parametrize("shape", ["l14", "old", "bigg"])
def test_a_prompt_with_a_known_prefix_is_encoded_as_without(text_model: Make, shape: str, padded: bool) -> None:
    model = text_model(shape)
    encoder = ClipEncoder(model)
    persona = list(range(1000, 1040))
    for i in range(4):
        ids = row([*persona, *range(2000 + 10 * i, 2009 + 10 * i)], padded)
        (found,) = encoder.encode([ids])
        hidden, _, pooled = plain(model, ids)
        assert off(found.hidden, hidden) <= 1e-5
        assert off(found.pooled, pooled) <= 1e-5
        assert found.reused == (0 if i == 0 else 41)
    assert encoder.counters.partial == 3


def test_nothing_known_and_a_whole_hit_are_equal_to_the_last_bit(text_model: Make) -> None:
    model = text_model("l14")
    encoder = ClipEncoder(model)
    ids = row([320, 1125, 539])
    first, again = encoder.encode([ids])[0], encoder.encode([ids])[0]
    assert torch.equal(first.hidden, plain(model, ids)[0])
    assert torch.equal(again.hidden, first.hidden)
    assert torch.equal(again.pooled, first.pooled)
    assert (first.reused, again.reused) == (0, WINDOW)


@given(rows=st.lists(WORDS, min_size=1, max_size=6), limit=st.sampled_from([0, 3_000, 1 << 20]), granularity=st.sampled_from([1, 4]))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_batches_of_anything_are_encoded_as_one_by_one(text_model: Make, rows: list[list[int]], limit: int, granularity: int) -> None:
    model = text_model("l14")
    encoder = ClipEncoder(model, limit, policies={"": Policy(granularity)})
    prompts = [row(words, padded=i % 2 == 0) for i, words in enumerate(rows)]
    for _ in range(2):
        for ids, found in zip(prompts, encoder.encode(prompts), strict=True):
            hidden, _, pooled = plain(model, ids)
            assert off(found.hidden, hidden) <= 1e-5
            assert off(found.pooled, pooled) <= 1e-5
        assert encoder.nbytes <= limit
    assert encoder.counters.reused + encoder.counters.computed == 2 * sum(map(len, prompts))


@pytest.mark.parametrize("skip", [0, 1, 2])
@pytest.mark.parametrize("norm", [True, False])
def test_earlier_layers_are_read_with_and_without_the_final_norm(text_model: Make, skip: int, norm: bool) -> None:
    model = text_model("bigg")
    encoder = ClipEncoder(model, skips=(1, 2))
    encoder.encode([row([7, 8, 9])])
    ids = row([7, 8, 9, 10])
    _, states, pooled = plain(model, ids)
    expected = states[-1 - skip]
    with torch.no_grad():
        expected = encoder.text.final_norm(expected)[0] if norm else expected[0]
    (found,) = encoder.encode([ids], skip=skip, norm=norm)
    assert found.reused == 4
    assert off(found.hidden, expected) <= 1e-5
    assert off(found.pooled, pooled) <= 1e-5


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_types_stay_within_their_tolerance(text_model: Make, dtype: str) -> None:
    model = text_model("l14").to(getattr(torch, dtype))
    encoder = ClipEncoder(model)
    encoder.encode([row(list(range(500, 520)))])
    ids = row([*range(500, 520), 7, 8])
    (found,) = encoder.encode([ids])
    assert (found.reused, found.hidden.dtype) == (21, getattr(torch, dtype))
    assert off(found.hidden, plain(model, ids)[0]) <= TOLERANCE[dtype]


def test_a_batch_with_a_common_beginning_computes_it_once(text_model: Make) -> None:
    encoder = ClipEncoder(text_model("l14"))
    encoder.encode([row([*range(500, 540), i], padded=False) for i in range(8)])
    assert encoder.counters.computed == 41 + 8 * 2
    assert encoder.counters.reused == 7 * 41


def test_namespaces_dont_see_each_other(text_model: Make) -> None:
    encoder = ClipEncoder(text_model("l14"))
    ids = row([1, 2, 3])
    encoder.encode([ids], "role")
    assert encoder.encode([ids], "scene")[0].reused == 0
    assert encoder.encode([ids], "role")[0].reused == WINDOW


def test_a_template_keeps_its_own_length_alone(text_model: Make) -> None:
    encoder = ClipEncoder(text_model("l14"), policies={"scene": Policy(granularity=8)})
    encoder.encode([row([1, 2, 3, 4, 5, 6, 7, 90, 91, 92])], "scene")  # the start token and seven words are one block
    assert encoder.encode([row([1, 2, 3, 4, 5, 6, 7, 90, 91, 80])], "scene")[0].reused == 8


def test_a_tree_of_another_time_is_begun_anew(text_model: Make) -> None:
    encoder = ClipEncoder(text_model("l14"), policies={"role": Policy(window=3, threshold=0.5)})
    for i in range(3):
        encoder.encode([row([1000 + i])], "role")
    assert encoder.counters.rebuilt == 1
    assert ClipEncoder(text_model("l14")).counters.rebuilt == 0


def test_a_limit_of_bytes_is_kept_and_the_newest_stays(text_model: Make) -> None:
    encoder = ClipEncoder(text_model("l14"), cache_bytes=60_000)
    prompts = [row([1000 + i, 2000 + i, 3000 + i]) for i in range(30)]
    for ids in prompts:
        encoder.encode([ids])
    assert encoder.nbytes <= 60_000
    assert encoder.counters.evicted > 0
    assert encoder.encode([prompts[-1]])[0].reused == WINDOW
    assert encoder.encode([prompts[0]])[0].reused <= 1
    encoder.clear()
    assert encoder.nbytes == 0


@pytest.mark.parametrize("ids", [[], [START, 5], [START, *[5] * 76, END]], ids=["empty", "without an end", "too long"])
def test_a_row_that_the_model_cant_read_is_refused(text_model: Make, ids: list[int]) -> None:
    with pytest.raises(InvalidOption):
        ClipEncoder(text_model("l14")).encode([ids])


def test_a_layer_that_isnt_kept_is_refused(text_model: Make) -> None:
    with pytest.raises(InvalidOption, match="skip"):
        ClipEncoder(text_model("l14")).encode([row([1])], skip=1)


def test_threads_get_what_one_thread_gets(text_model: Make) -> None:
    model = text_model("l14")
    encoder = ClipEncoder(model, cache_bytes=200_000)
    prompts = [row([*range(500, 510), i % 5, i % 3]) for i in range(30)]
    expected = {tuple(ids): plain(model, ids)[0] for ids in prompts}
    wrong: list[float] = []

    def work() -> None:
        for ids in prompts:
            difference = off(encoder.encode([ids])[0].hidden, expected[tuple(ids)])
            if difference > 1e-5:
                wrong.append(difference)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert encoder.counters.reused + encoder.counters.computed == 4 * 30 * WINDOW
