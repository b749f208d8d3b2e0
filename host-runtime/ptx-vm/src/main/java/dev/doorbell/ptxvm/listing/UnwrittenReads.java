package dev.doorbell.ptxvm.listing;

import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds reads of registers that nothing can have written since the function was entered, whatever
 * way was taken. PTX does not say what such a register holds, and engines differ in it.
 *
 * <p>Forward dataflow of what may be written; a guarded write counts.
 */
public final class UnwrittenReads {
  /** A read of a register that holds nothing. */
  public record Finding(Instruction instruction, Register register) {}

  /** Bits of the four picks of a {@code prmt}, 4 bits each: that which says the second source. */
  private static final long PICKS_OF_SECOND = 0x4444;

  private final List<Instruction> code;
  private final List<FunctionListing.Block> blocks;
  private final Map<Register, List<Instruction>> writers = new HashMap<>();

  private UnwrittenReads(FunctionListing listing) {
    code = listing.function().code();
    blocks = listing.blocks();
    for (Instruction instruction : code) {
      for (Register register : FunctionListing.written(instruction)) {
        writers.computeIfAbsent(register, _ -> new ArrayList<>()).add(instruction);
      }
    }
  }

  /** The first such read of each register, in the order of the code. */
  public static List<Finding> of(FunctionListing listing) {
    return listing.blocks().isEmpty() ? List.of() : new UnwrittenReads(listing).find();
  }

  private List<Finding> find() {
    List<Finding> findings = new ArrayList<>();
    BitSet told = new BitSet();
    @Nullable BitSet[] start = writtenAtStart();
    for (FunctionListing.Block block : blocks) {
      BitSet written = start[block.number()];
      for (int i = block.first(); written != null && i < block.end(); i++) {
        Instruction instruction = code.get(i);
        for (Register register : read(instruction)) {
          if (!written.get(register.id())
              && !told.get(register.id())
              && !passes(instruction, register)) {
            told.set(register.id());
            findings.add(new Finding(instruction, register));
          }
        }
        FunctionListing.written(instruction).forEach(register -> written.set(register.id()));
      }
    }
    findings.sort((a, b) -> Integer.compare(a.instruction().line(), b.instruction().line()));
    return findings;
  }

  /** Returns what may be written where each block starts; null where control never comes. */
  private @Nullable BitSet[] writtenAtStart() {
    @Nullable BitSet[] start = new BitSet[blocks.size()];
    start[0] = new BitSet();
    Deque<Integer> open = new ArrayDeque<>(List.of(0));
    while (!open.isEmpty()) {
      FunctionListing.Block block = blocks.get(open.remove());
      BitSet end = new BitSet();
      BitSet before = start[block.number()];
      if (before != null) {
        end.or(before);
      }
      for (Instruction instruction : code.subList(block.first(), block.end())) {
        FunctionListing.written(instruction).forEach(register -> end.set(register.id()));
      }
      for (int next : block.successors()) {
        BitSet known = start[next];
        BitSet more = known == null ? new BitSet() : (BitSet) known.clone();
        more.or(end);
        if (!more.equals(known)) {
          start[next] = more;
          open.add(next);
        }
      }
    }
    return start;
  }

  /** Returns true if a register is passed on to a function, which may not look at it. */
  private static boolean passes(Instruction read, Register register) {
    boolean decides = read.guard() != null && read.guard().predicate().equals(register);
    return !decides && read.name().equals("st") && read.has("param");
  }

  /**
   * The registers whose value matters to an instruction. A {@code prmt} whose picks are known and
   * take no byte of a source, as inline assembly swaps bytes, ignores that one.
   */
  private Set<Register> read(Instruction instruction) {
    Set<Register> read = FunctionListing.read(instruction);
    List<Operand> operands = instruction.operands();
    if (instruction.name().equals("prmt")
        && instruction.modifiers().equals(List.of("b32"))
        && operands.size() == 4
        && !operands.get(1).equals(operands.get(2))) {
      for (long picks : new long[] {0, PICKS_OF_SECOND}) {
        Operand ignored = operands.get(picks == 0 ? 2 : 1);
        if (ignored instanceof Operand.Reg(Register source)
            && !ignored.equals(operands.get(3))
            && alwaysPicks(operands.get(3), picks)) {
          read.remove(source);
        }
      }
    }
    return read;
  }

  /**
   * Returns whether a {@code prmt} is known to pick some sources: its last operand is a constant,
   * or a register that holds constants alone.
   *
   * @param picks the sources, a bit of {@link #PICKS_OF_SECOND} each
   */
  private boolean alwaysPicks(Operand mask, long picks) {
    return switch (mask) {
      case Operand.Int(long value) -> (value & PICKS_OF_SECOND) == picks;
      case Operand.Reg(Register register) -> {
        List<Instruction> writes = writers.getOrDefault(register, List.of());
        yield !writes.isEmpty() && writes.stream().allMatch(write -> isMask(write, picks));
      }
      default -> false;
    };
  }

  /** Returns whether an instruction moves such a constant, or clears the bits of picks by one. */
  private boolean isMask(Instruction write, long picks) {
    return switch (write.name()) {
      case "mov" ->
          write.operands().get(1) instanceof Operand.Int value && alwaysPicks(value, picks);
      case "and" ->
          picks == 0
              && write.operands().stream()
                  .anyMatch(each -> each instanceof Operand.Int value && alwaysPicks(value, 0));
      default -> false;
    };
  }
}
