"""Cuts `assets/fonts/label.otf` out of Noto Sans CJK SC Bold: Latin letters, punctuation, and what usual Chinese labels are written with.

apt-get install fonts-noto-cjk; pip install fonttools
python -m tools.label_font /usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parent.parent
SIMPLIFIED = 2  # of the collection's fonts
HANZI = (
    "人工智能生成合由内容图片像照视频制作修改编辑换脸融本品经过处理深度伪造虚构的是非真实仅供参考提示注意使用技术含有疑似可已被与和或为以不代表"
    "原机器算法模型数字创标识此该"
)
PUNCTUATION = "·•–—‘’“”…、。，：；！？（）《》「」【】"


def main() -> None:
    font = TTFont(sys.argv[1], fontNumber=SIMPLIFIED, lazy=True)
    options = subset.Options()
    options.layout_features, options.name_IDs = ["kern"], [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.notdef_outline, options.hinting = True, False
    cut = subset.Subsetter(options)
    cut.populate(text="".join(map(chr, (*range(0x20, 0x7F), *range(0xA0, 0x180)))) + PUNCTUATION + HANZI)
    cut.subset(font)
    font.flavor = None
    font.save(ROOT / "assets" / "fonts" / "label.otf")


if __name__ == "__main__":
    main()
