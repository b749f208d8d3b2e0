package dev.doorbell.experiments.workbench.kernel.run;

import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.listing.FunctionListing;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Notes on what often goes wrong where a kernel posts by its own hand, found without running it:
 * stores that no fence parts from the doorbell, rings by weak stores, numbers that were not
 * byte-swapped, and addresses of the peer that threads cannot reach.
 *
 * <p>A fence on one of two ways is no fence; a call is taken to have one. So what is noted may be
 * right all the same, and what is not may be wrong: {@code explore} runs it.
 */
final class PostingNotes {
  private static final int RECORD = 8;
  private static final int DOORBELL = 16;
  private static final int REMOTE = 8;
  private static final int MOST = 6;
  private static final int SHOWN = 4;

  private final PtxModule module;
  private final FunctionListing listing;
  private final Origins origins;
  private final int queuePairs;
  private final int job;
  private final List<KernelReport.Line> notes = new ArrayList<>();

  private enum Ring {
    NONE,
    RECORD,
    DOORBELL
  }

  private PostingNotes(PtxModule module, FunctionListing listing, int queuePairs, int job) {
    this.module = module;
    this.listing = listing;
    this.origins = new Origins(listing.function());
    this.queuePairs = queuePairs;
    this.job = job;
  }

  /** The notes on a module whose kernels take (queue pairs, job) if they take two addresses. */
  static List<KernelReport.Line> of(PtxModule module, List<FunctionListing> listings) {
    List<KernelReport.Line> all = new ArrayList<>();
    for (FunctionListing listing : listings) {
      boolean usual = listing.function().entry() && listing.function().parameters().size() == 2;
      PostingNotes notes = new PostingNotes(module, listing, usual ? 0 : -1, usual ? 1 : -1);
      notes.look();
      all.addAll(notes.notes);
    }
    return all.size() <= MOST ? all : all.subList(0, MOST);
  }

  private void look() {
    List<Instruction> code = listing.function().code();
    for (Instruction instruction : code) {
      byItself(instruction);
    }
    order(code);
  }

  private void byItself(Instruction access) {
    Ring ring = ring(access);
    if (ring != Ring.NONE && !isStrongForAll(access)) {
      note(
          access,
          ring == Ring.RECORD
              ? "a weak store to the doorbell record may be merged, moved or torn"
                  + " (doorbell::store_relaxed_system)"
              : "a weak store to the doorbell register may be merged, moved or torn"
                  + " (doorbell::store_register)");
    }
    if (ring != Ring.NONE && !origins.maySwap(access.operands().getLast())) {
      note(
          access,
          "the doorbell %s is big-endian, and this value was never byte-swapped (doorbell::big_endian)"
              .formatted(ring == Ring.RECORD ? "record" : "register"));
    }
    boolean reaches =
        access.name().equals("st") || access.name().equals("ld") || access.name().equals("atom");
    if (reaches && job >= 0) {
      Optional<Origins.Origin> origin = origins.ofAddress(access);
      if (origin.isPresent() && origin.get().isField(job, REMOTE)) {
        note(
            access,
            "this reaches job.remote, which is memory of the peer: work requests name it, threads"
                + " reach it on an emulator alone");
      }
    }
  }

  /** Every store that may be under way when the doorbell is rung, with no fence between. */
  private void order(List<Instruction> code) {
    List<FunctionListing.Block> blocks = listing.blocks();
    List<BitSet> before = new ArrayList<>();
    blocks.forEach(_ -> before.add(new BitSet()));
    Deque<Integer> open = new ArrayDeque<>();
    for (int i = 0; i < blocks.size(); i++) {
      open.add(i);
    }
    while (!open.isEmpty()) {
      FunctionListing.Block block = blocks.get(open.remove());
      BitSet pending = (BitSet) before.get(block.number()).clone();
      for (int i = block.first(); i < block.end(); i++) {
        step(code.get(i), i, pending);
      }
      for (int next : block.successors()) {
        int known = before.get(next).cardinality();
        before.get(next).or(pending);
        if (before.get(next).cardinality() > known) {
          open.add(next);
        }
      }
    }
    for (FunctionListing.Block block : blocks) {
      BitSet pending = (BitSet) before.get(block.number()).clone();
      for (int i = block.first(); i < block.end(); i++) {
        if (ring(code.get(i)) == Ring.DOORBELL) {
          tell(code, i, pending);
        }
        step(code.get(i), i, pending);
      }
    }
  }

  private void tell(List<Instruction> code, int doorbell, BitSet pending) {
    if (pending.isEmpty()) {
      return;
    }
    boolean recordAlone = pending.stream().allMatch(at -> ring(code.get(at)) == Ring.RECORD);
    String lines =
        pending.stream()
            .limit(SHOWN)
            .mapToObj(at -> Integer.toString(module.place(code.get(at).line()).line()))
            .collect(Collectors.joining(", "));
    int more = pending.cardinality() - SHOWN;
    note(
        code.get(doorbell),
        "no fence lies between this doorbell and what is stored in line%s %s%s: %s (doorbell::fence)"
            .formatted(
                pending.cardinality() == 1 ? "" : "s",
                lines,
                more > 0 ? " and %d more".formatted(more) : "",
                recordAlone
                    ? "it may overtake the doorbell record"
                    : "the HCA may read what was there before"));
  }

  private void step(Instruction instruction, int at, BitSet pending) {
    if (isFence(instruction) || instruction.name().equals("call")) {
      pending.clear();
    } else if (isStore(instruction) && ring(instruction) != Ring.DOORBELL) {
      pending.set(at);
    }
  }

  private static boolean isFence(Instruction instruction) {
    boolean fence = instruction.name().equals("fence") && !instruction.has("proxy");
    boolean barrier = instruction.name().equals("membar");
    return (fence || barrier) && instruction.guard() == null && !instruction.has("cta");
  }

  /** Stores that an HCA may read; those to a BlueFlame register are its own. */
  private static boolean isStore(Instruction instruction) {
    return instruction.name().equals("st")
        && !instruction.has("local")
        && !instruction.has("shared")
        && !instruction.has("param")
        && !(instruction.has("sys") && instruction.has("v4"));
  }

  /**
   * Returns what a store rings, if anything. A register that takes a number in the order of this
   * machine is no HCA's, as that of a push engine.
   */
  private Ring ring(Instruction instruction) {
    if (!instruction.name().equals("st")) {
      return Ring.NONE;
    }
    Optional<Origins.Origin> origin = origins.ofAddress(instruction);
    if (queuePairs >= 0 && origin.isPresent()) {
      if (origin.get().isField(queuePairs, DOORBELL)) {
        return Ring.DOORBELL;
      }
      if (origin.get().isField(queuePairs, RECORD)) {
        return Ring.RECORD;
      }
    }
    return instruction.has("mmio") && origins.maySwap(instruction.operands().getLast())
        ? Ring.DOORBELL
        : Ring.NONE;
  }

  private static boolean isStrongForAll(Instruction instruction) {
    return instruction.has("mmio") || instruction.has("volatile") || instruction.has("sys");
  }

  private void note(Instruction instruction, String what) {
    notes.add(VmWorkbench.line(module, instruction.line(), what, instruction.source()));
  }
}
