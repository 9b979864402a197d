"""Features of a picture before a language model: LLaVA's and Qwen-VL's shapes in transformers."""

from typing import TYPE_CHECKING, Any

from engines.errors import InvalidOption

if TYPE_CHECKING:
    import torch


def image_features(model: Any, **inputs: Any) -> "torch.Tensor":
    """What the model itself would put in the place of a picture's tokens, (tokens, width).

    Args:
        inputs: the processor's, for one picture: `pixel_values`, and `image_grid_thw` for Qwen-VL.
    """
    import torch

    with torch.no_grad():
        found = model.get_image_features(**inputs)
    found = getattr(found, "pooler_output", found)  # transformers 5 answers with more than the features
    return torch.cat(list(found)) if isinstance(found, list | tuple) else found.reshape(-1, found.shape[-1])


def with_features(
    model: Any, ids: "torch.Tensor", features: "torch.Tensor", grid: "torch.Tensor | None" = None
) -> "dict[str, torch.Tensor]":
    """The arguments that stand for a text and its picture: `model(**with_features(…))`, equal to the model with the picture itself.

    Args:
        ids: (1, T) of the text, with the picture's token as many times as it has features.
        grid: Qwen-VL's `image_grid_thw`, from which it reckons where the picture's tokens stand in rows and columns.

    Raises:
        InvalidOption: the text has another number of places than there are features.
    """
    import torch

    token = int(model.config.image_token_id)
    places = ids == token
    if int(places.sum()) != features.shape[0]:
        raise InvalidOption(name="ids", value=int(places.sum()), allowed=f"{features.shape[0]} × {token}")
    embeddings = model.get_input_embeddings()(ids)
    given = {"inputs_embeds": embeddings.masked_scatter(places[..., None].expand_as(embeddings), features.to(embeddings))}
    if grid is not None:
        given["position_ids"] = model.model.get_rope_index(ids, mm_token_type_ids=places.to(torch.int32), image_grid_thw=grid)[0]
    return given
