"""The LSTM and ConvS2S of the project: the same answer with and without a cache, a batch, a folder or beams."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, DynamicCache, EncoderDecoderCache, MarianConfig, MarianMTModel
from transformers.modeling_outputs import BaseModelOutput

from nbsandbox.networks import ConvS2SConfig, ConvS2STranslator, LstmConfig, LstmTranslator

CLASSES = {"lstm": (LstmConfig, LstmTranslator), "convs2s": (ConvS2SConfig, ConvS2STranslator)}
PAD, END = 1, 0


def model_of(name: str, words: int = 30, **changes):
    config_class, model_class = CLASSES[name]
    torch.manual_seed(5)
    spread = {"lstm": 0.8, "convs2s": 0.4}[name]  # wide, so that each step matters
    sizes = {"d_model": 12, "encoder_layers": 2, "decoder_layers": 2, "init_std": spread, "dropout": 0.2}
    return model_class(config_class(vocab_size=words, **{**sizes, **changes})).eval()


@pytest.fixture(scope="module", params=list(CLASSES))
def model(request):
    return model_of(request.param)


@pytest.fixture(scope="module")
def batch():
    """Sources of 7, 3 and 1 words, padded on their right."""
    torch.manual_seed(1)
    ids, lengths = torch.randint(2, 30, (3, 8)), torch.tensor([8, 4, 2])
    mask = (torch.arange(8) < lengths.unsqueeze(1)).long()
    ids[torch.arange(3), lengths - 1] = END
    return {"input_ids": ids.masked_fill(mask == 0, PAD), "attention_mask": mask}


@pytest.mark.parametrize(
    ("name", "words", "parameters"),
    [
        ("lstm", 32_232, 59_819_008),
        ("lstm", 34_328, 60_892_160),
        ("convs2s", 32_232, 64_548_328),
        ("convs2s", 34_328, 66_696_728),
    ],
)
def test_as_many_parameters_as_table_12_has(name, words, parameters):
    """By default they are the disambiguation paper's; the vocabularies follow from its Transformers."""
    config_class, model_class = CLASSES[name]
    with torch.device("meta"):
        assert model_class(config_class(vocab_size=words)).num_parameters() == parameters


@pytest.mark.parametrize(("words", "parameters"), [(32_232, 60_641_280), (34_328, 61_714_432)])
def test_the_vocabularies_of_table_12(words, parameters):
    sizes = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in
             {"layers": 6, "attention_heads": 8, "ffn_dim": 2048}.items()}  # fmt: skip
    config = MarianConfig(vocab_size=words, d_model=512, pad_token_id=1, decoder_start_token_id=1, **sizes)
    with torch.device("meta"):
        model = MarianMTModel(config)
    assert sum(weight.numel() for weight in model.parameters() if weight.requires_grad) == parameters


def test_a_step_with_a_cache_is_a_step_without(model, batch):
    target = torch.randint(2, 30, (3, 6), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        whole = model(**batch, decoder_input_ids=target, use_cache=False)
        assert whole.past_key_values is None
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        parts = [
            model(**batch, decoder_input_ids=target[:, start:end], past_key_values=cache).logits
            for start, end in ((0, 1), (1, 2), (2, 5), (5, 6))
        ]
    assert cache.get_seq_length() == 6
    torch.testing.assert_close(torch.cat(parts, 1), whole.logits, rtol=0, atol=1e-5)
    assert whole.logits.std() > 0.1  # or all would be equal


def test_positions_can_be_taken_back(model, batch):
    target = torch.tensor([[4, 5, 6, 7]] * 3)
    with torch.no_grad():
        cache = model(**batch, decoder_input_ids=target).past_key_values
        cache.crop(-2)
        again = model(**batch, decoder_input_ids=target[:, 2:], past_key_values=cache).logits
        whole = model(**batch, decoder_input_ids=target).logits
    torch.testing.assert_close(again, whole[:, 2:], rtol=0, atol=1e-5)


def test_a_row_is_what_it_is_alone(model, batch):
    target = torch.tensor([[4, 5, 6]] * 3)
    with torch.no_grad():
        together = model(**batch, decoder_input_ids=target, output_attentions=True)
        for row, length in enumerate((8, 4, 2)):
            alone = model(input_ids=batch["input_ids"][row : row + 1, :length], decoder_input_ids=target[:1])
            torch.testing.assert_close(together.logits[row], alone.logits[0], rtol=0, atol=1e-5)
    for weights in together.cross_attentions:
        assert weights.shape == (3, 1, 3, 8)
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 1, 3))
        assert weights[2, 0, :, 2:].abs().max() == 0  # nothing is looked for in padding


@pytest.mark.parametrize("beams", [1, 3])
def test_generating_with_and_without_a_cache(model, batch, beams):
    options = {"num_beams": beams, "max_new_tokens": 9, "do_sample": False, "length_penalty": 1.0}
    with_cache, without = (model.generate(**batch, **options, use_cache=use) for use in (True, False))
    assert with_cache.tolist() == without.tolist()
    for row, length in enumerate((8, 4, 2)):  # whatever it is generated with
        alone = model.generate(input_ids=batch["input_ids"][row : row + 1, :length], **options)[0].tolist()
        assert [i for i in alone if i != PAD] == [i for i in with_cache[row].tolist() if i != PAD]


@pytest.mark.parametrize("name", list(CLASSES))
def test_wide_beams_find_the_best_of_all_hypotheses(name):
    model = model_of(name, words=6)
    ids = torch.tensor([[2, 3, 4, END]])
    most = 3
    hypotheses = [
        (*start, END) for n in range(most) for start in product(range(1, 6), repeat=n)
    ] + list(product(range(1, 6), repeat=most))  # fmt: skip

    def log_p(hypothesis):
        labels = torch.tensor([hypothesis])
        inputs = torch.tensor([[END, *hypothesis[:-1]]])
        with torch.no_grad():
            scores = model(input_ids=ids, decoder_input_ids=inputs).logits.log_softmax(-1)
        return float(scores.gather(-1, labels.unsqueeze(-1)).sum())

    best = max(hypotheses, key=log_p)
    found = model.generate(
        input_ids=ids, num_beams=100, max_new_tokens=most, length_penalty=0.0, return_dict_in_generate=True,
        output_scores=True, pad_token_id=7,
    )  # fmt: skip
    assert tuple(i for i in found.sequences[0, 1:].tolist() if i != 7) == best
    assert float(found.sequences_scores[0]) == pytest.approx(log_p(best), abs=1e-4)


def test_beams_that_are_distinguished_keep_their_own_past(model, batch):
    """Reordering a cache is the same as computing it anew for the reordered hypotheses."""
    target = torch.tensor([[4, 5, 6], [7, 8, 9], [10, 11, 12]])
    order = torch.tensor([2, 0, 0])
    same = {key: value[:1].expand(3, -1) for key, value in batch.items()}
    with torch.no_grad():
        cache = model(**same, decoder_input_ids=target).past_key_values
        cache.reorder_cache(order)
        again = model(**same, decoder_input_ids=target[:, :1], past_key_values=cache).logits
        whole = model(**same, decoder_input_ids=torch.cat([target[order], target[:, :1]], 1)).logits
    torch.testing.assert_close(again[:, 0], whole[:, -1], rtol=0, atol=1e-5)


def test_a_folder_gives_the_same_model_back(model, batch, tmp_path):
    model.save_pretrained(tmp_path)
    back = AutoModelForSeq2SeqLM.from_pretrained(tmp_path, use_safetensors=True).eval()
    assert type(back) is type(model)
    with torch.no_grad():
        outputs = [each(**batch, labels=torch.tensor([[4, 5, END]] * 3)) for each in (model, back)]
    assert torch.equal(outputs[0].logits, outputs[1].logits)
    assert back.get_input_embeddings().weight[PAD].equal(model.get_input_embeddings().weight[PAD])


def test_the_decoder_sees_the_source_through_the_encoders_states_alone(model, batch):
    """So that probes can put other states in their place."""
    target = torch.tensor([[4, 5, 6]] * 3)
    with torch.no_grad():
        states = model.get_encoder()(**batch).last_hidden_state
        whole = model(**batch, decoder_input_ids=target).logits
        mask = batch["attention_mask"]
        given = model(
            encoder_outputs=BaseModelOutput(states), attention_mask=mask, decoder_input_ids=target, use_cache=False
        )
        assert torch.equal(given.logits, whole)
        other = states.clone()
        other[0, 0] += 1
        changed = model(encoder_outputs=BaseModelOutput(other), attention_mask=mask, decoder_input_ids=target).logits
    assert not torch.allclose(changed[0], whole[0])
    assert torch.equal(changed[1:], whole[1:])


def test_the_loss_leaves_padding_out(model, batch):
    labels = torch.tensor([[4, 5, END], [6, END, -100], [END, -100, -100]])
    with torch.no_grad():
        output = model(**batch, labels=labels)
    expected = torch.nn.functional.cross_entropy(output.logits[labels != -100], labels[labels != -100])
    assert float(output.loss) == pytest.approx(float(expected), abs=1e-6)


@pytest.mark.parametrize("name", list(CLASSES))
def test_weights_begin_so_that_outputs_vary_as_inputs_do(name):
    torch.manual_seed(0)
    config_class, model_class = CLASSES[name]
    model = model_class(config_class(vocab_size=200, d_model=64, dropout=0.0)).eval()
    assert model.get_input_embeddings().weight[PAD].abs().max() == 0
    with torch.no_grad():
        states = model.get_encoder()(torch.randint(2, 200, (4, 20))).last_hidden_state
    assert 1e-3 < states.std() < 1


def test_what_is_to_be_decoded_has_to_be_stated(model, batch):
    with pytest.raises(ValueError, match="neither decoder_input_ids nor labels"):
        model(**batch)
