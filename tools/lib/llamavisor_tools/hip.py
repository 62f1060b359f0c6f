"""Whether a HIP build has code for this machine's cards: asked before gigabytes are fetched, and after."""

from .errors import EngineError, NotAvailable
from .kfd import gpus
from .progress import say

# Read from libggml-hip.so of libggml0-backend-hip 0.27.0-1 as pack.gfx_targets() does it; the names of the kernels in
# librocblas4 6.4.4-4 have the same ten (both of the suite forky).
DEBIAN_TARGETS = ["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1101",
                  "gfx1102"]


def look_at_cards(root, anyway):
    """Refuses Debian's build where no card here could run it; says so where some cannot."""
    cards = gpus(root)
    without = lacking(cards, DEBIAN_TARGETS)
    if not cards:
        say("the kernel lists no AMD GPU here; going on, for another machine")
    elif not without:
        return
    elif len(without) < len(cards) or anyway:
        say(f"warning: Debian's build has no code for {names(without)}")
    else:
        raise NotAvailable(
            f"not available: Debian's build has no code for {names(without)}, only for {', '.join(DEBIAN_TARGETS)}; "
            "take an archive that has it: get-engine hip --from ARCHIVE-OR-URL --sha256 HEX (docs/engines.md tells "
            "which), or Debian's all the same: --anyway")


def warn_if_no_code(pack, root):
    """Once a pack was made, by the list that was read from it; an empty list says nothing."""
    targets = pack.description.get("gfx_targets")
    try:
        without = lacking(gpus(root), targets) if targets else []
    except EngineError as error:  # of the environment: the pack is good
        say(f"warning: {error}")
        return
    if without:
        say(f"warning: this build has no code for {names(without)}, only for {', '.join(targets)}")


def lacking(cards, targets):
    return [card for card in cards if card.effective_gfx not in targets]


def names(cards):
    return ", ".join(dict.fromkeys(map(str, cards)))
