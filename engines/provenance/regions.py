"""What the rules of a region ask of a label that people see: one table, with the day and the place where it is written.

A reading of the rules by laymen, no legal advice. What is written into a file (the labels that programs read) is the same everywhere.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Region:
    """One region's rule.

    Attributes:
        visible: whether every fusion needs words that people see.
        share: the least height of the words as a share of the picture's shortest side; 0 where the rule names none.
        language: of the words where the rule names one; "" is the installation's.
        since: ISO date from which it holds. rule: its name and place. source: where it is published.
    """

    visible: bool
    share: float = 0.0
    language: str = ""
    since: str = ""
    rule: str = ""
    source: str = ""


REGIONS: dict[str, Region] = {
    "none": Region(visible=False),
    "cn": Region(
        visible=True,
        share=0.05,
        language="zh-CN",
        since="2025-09-01",
        rule="GB 45438-2025, 4.3: text at an edge or corner, at least 5 % of the shortest side; Measures for Labelling, Art. 4",
        source="https://www.cac.gov.cn/2025-03/14/c_1743654684782215.htm",
    ),
    "eu": Region(
        visible=True,
        since="2026-08-02",
        rule="Regulation (EU) 2024/1689, Art. 50(4) and (5): who uses a deep fake says so, clearly and at the first exposure",
        source="https://eur-lex.europa.eu/eli/reg/2024/1689/oj",
    ),
    "us-ca": Region(
        visible=False,
        since="2026-08-02",
        rule="SB 942 (Bus. & Prof. Code 22757.3) as changed by AB 853: the visible disclosure is offered, the latent one is a duty",
        source="https://leginfo.legislature.ca.gov/faces/billNavClient.xhtml?bill_id=202320240SB942",
    ),
}
