"""Whole pass: everything at once."""

from attnviz.text.step import Section, Step, always

WHOLE_PASS = Step(
    id="whole-pass",
    title="Whole pass",
    headings=(Section("everything", "Everything at once"),),
    sections=(
        Section(
            "everything",
            "From what enters to what leaves, for the selected head: every stage in order, except the biases. A "
            "table below lists all stages with their shapes. Pick any cell to "
            "see how it was made.",
        ),
    ),
    when=always,
)
