package dev.doorbell.ptxvm.listing;

import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds reads of registers that nothing may have written since the function was entered. PTX does
 * not say what such a register holds, and engines differ in it.
 *
 * <p>Forward dataflow in two passes. The first takes a guarded write for none, and leaves few
 * registers. The second, for each of those, knows guards and branches: what {@code @p} wrote is
 * written where p is known to be true, by a guard or by the branch that led there, as long as p is
 * not written again. Of ways that no run takes for any other reason it knows nothing.
 */
public final class UnwrittenReads {
  /**
   * A read.
   *
   * @param instruction that reads
   * @param register that may hold nothing
   * @param always no write of the register can have come before, whatever way was taken
   * @param branch the branch that parts the way without a write from one with it; null where none
   *     does
   */
  public record Finding(
      Instruction instruction, Register register, boolean always, @Nullable Instruction branch) {}

  /** Bits of the four picks of a {@code prmt}, 4 bits each: that which says the second source. */
  private static final long PICKS_OF_SECOND = 0x4444;

  private final Function function;
  private final List<Instruction> code;
  private final List<FunctionListing.Block> blocks;
  private final List<List<Integer>> predecessors = new ArrayList<>();

  /** Indexed by instruction. */
  private final Register[][] written;

  private final Register[][] read;

  /** For each register, the instructions that write or read it, in order. */
  private final Map<Integer, List<Integer>> writers = new HashMap<>();

  private final Map<Integer, List<Integer>> readers = new HashMap<>();

  private final int[] blockOf;

  /** For each block, the instructions that write a predicate, in order. */
  private final int[][] predicateWrites;

  private final Guards guards;

  /**
   * For each block, what holds of a register that nothing writes: the literals that are false
   * there. Null where control never comes.
   */
  private final @Nullable BitSet[] nowhere;

  private UnwrittenReads(FunctionListing listing) {
    function = listing.function();
    code = function.code();
    blocks = listing.blocks();
    blocks.forEach(_ -> predecessors.add(new ArrayList<>()));
    for (FunctionListing.Block block : blocks) {
      block.successors().forEach(next -> predecessors.get(next).add(block.number()));
    }
    written = new Register[code.size()][];
    read = new Register[code.size()][];
    for (int i = 0; i < code.size(); i++) {
      written[i] = FunctionListing.written(code.get(i)).toArray(Register[]::new);
      note(writers, written[i], i);
    }
    for (int i = 0; i < code.size(); i++) {
      read[i] = read(code.get(i)).toArray(Register[]::new);
      note(readers, read[i], i);
    }
    blockOf = new int[code.size()];
    for (FunctionListing.Block block : blocks) {
      Arrays.fill(blockOf, block.first(), block.end(), block.number());
    }
    predicateWrites = new int[blocks.size()][];
    for (FunctionListing.Block block : blocks) {
      predicateWrites[block.number()] =
          IntStream.range(block.first(), block.end())
              .filter(i -> Arrays.stream(written[i]).anyMatch(UnwrittenReads::isPredicate))
              .toArray();
    }
    guards = new Guards(listing, predecessors, written);
    nowhere = new BitSet[blocks.size()];
    settle(nowhere, null, null);
  }

  /**
   * Settles what holds at the starts of blocks: each what arrives by all ways that control may
   * come.
   *
   * @param start by block; null where nothing has arrived yet
   * @param one the register that is asked about; null for one that nothing writes
   * @param open the blocks to settle; null for all
   */
  private void settle(@Nullable BitSet[] start, @Nullable OneRegister one, @Nullable BitSet open) {
    Open next = new Open();
    if (open == null) {
      start[0] = new BitSet();
      blocks.getFirst().successors().forEach(next::add);
    } else {
      for (int block = open.nextSetBit(0); block >= 0; block = open.nextSetBit(block + 1)) {
        next.add(block);
      }
    }
    while (!next.isEmpty()) {
      int block = next.remove();
      BitSet met = meet(block, start, one);
      if (met != null && !met.equals(start[block])) {
        start[block] = met;
        for (int successor : blocks.get(block).successors()) {
          if (open == null || open.get(successor)) {
            next.add(successor);
          }
        }
      }
    }
  }

  /**
   * Returns what holds at the start of a block on every way there; null where control never comes.
   */
  private @Nullable BitSet meet(int block, @Nullable BitSet[] start, @Nullable OneRegister one) {
    BitSet met = null;
    if (block == 0) {
      met = new BitSet(); // it is also entered from outside
    }
    List<Integer> before = predecessors.get(block);
    for (int way = 0; way < before.size(); way++) {
      int from = before.get(way);
      BitSet held = start[from];
      if (held != null) {
        BitSet arriving = guards.arriving(through(from, held, one), from, block, way);
        if (met == null) {
          met = arriving;
        } else {
          met.and(arriving);
        }
      }
    }
    return met;
  }

  /** Returns what holds at the end of a block, in a set of the caller's own. */
  private BitSet through(int block, BitSet before, @Nullable OneRegister one) {
    if (one != null && one.writes.containsKey(block)) {
      return one.through(block, before);
    }
    BitSet holds = (BitSet) before.clone();
    if (!holds.isEmpty()) {
      for (int at : predicateWrites[block]) {
        guards.forget(holds, at);
      }
    }
    return holds;
  }

  private static void note(Map<Integer, List<Integer>> by, Register[] registers, int at) {
    for (Register register : registers) {
      by.computeIfAbsent(register.id(), _ -> new ArrayList<>()).add(at);
    }
  }

  private static boolean isPredicate(Register register) {
    return register.type() == ScalarType.PRED;
  }

  /** The first such read of each register, in the order of the code. */
  public static List<Finding> of(FunctionListing listing) {
    return listing.blocks().isEmpty() ? List.of() : new UnwrittenReads(listing).find();
  }

  private List<Finding> find() {
    List<Finding> findings = new ArrayList<>();
    BitSet looked = new BitSet();
    List<@Nullable BitSet> unwritten = unwrittenAtStart();
    for (FunctionListing.Block block : blocks) {
      BitSet state = copy(unwritten.get(block.number()));
      for (int i = block.first(); state != null && i < block.end(); i++) {
        for (Register register : read[i]) {
          if (state.get(register.id()) && !looked.get(register.id())) {
            looked.set(register.id());
            Finding finding = new OneRegister(register).firstRead();
            if (finding != null) {
              findings.add(finding);
            }
          }
        }
        step(i, state);
      }
    }
    findings.sort((a, b) -> Integer.compare(a.instruction().line(), b.instruction().line()));
    return findings;
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
        List<Integer> places = writers.getOrDefault(register.id(), List.of());
        yield !places.isEmpty()
            && places.stream().map(code::get).allMatch(write -> isMask(write, picks));
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

  private static @Nullable BitSet copy(@Nullable BitSet bits) {
    return bits == null ? null : (BitSet) bits.clone();
  }

  /** Registers that may be unwritten where a block starts; null where control never comes. */
  private List<@Nullable BitSet> unwrittenAtStart() {
    List<BitSet> certain = new ArrayList<>();
    for (FunctionListing.Block block : blocks) {
      BitSet writes = new BitSet();
      for (int i = block.first(); i < block.end(); i++) {
        if (code.get(i).guard() == null) {
          for (Register register : written[i]) {
            writes.set(register.id());
          }
        }
      }
      certain.add(writes);
    }
    List<@Nullable BitSet> start = new ArrayList<>();
    blocks.forEach(_ -> start.add(null));
    BitSet all = new BitSet();
    all.set(0, function.registers().size());
    start.set(0, all);
    Open open = new Open();
    open.add(0);
    while (!open.isEmpty()) {
      FunctionListing.Block block = blocks.get(open.remove());
      BitSet state = copy(start.get(block.number()));
      if (state == null) {
        continue;
      }
      state.andNot(certain.get(block.number()));
      for (int next : block.successors()) {
        BitSet known = start.get(next);
        if (known == null) {
          start.set(next, copy(state));
          open.add(next);
        } else {
          int before = known.cardinality();
          known.or(state);
          if (known.cardinality() > before) {
            open.add(next);
          }
        }
      }
    }
    return start;
  }

  private void step(int at, BitSet unwritten) {
    if (code.get(at).guard() == null) {
      for (Register register : written[at]) {
        unwritten.clear(register.id());
      }
    }
  }

  /** Blocks to look at, each once, the first in the code first. */
  private static final class Open {
    private final BitSet blocks = new BitSet();

    boolean isEmpty() {
      return blocks.isEmpty();
    }

    void add(int block) {
      blocks.set(block);
    }

    int remove() {
      int first = blocks.nextSetBit(0);
      blocks.clear(first);
      return first;
    }
  }

  /** Tracks where one register is written, as far as guards and branches tell. */
  private final class OneRegister {
    private final Register register;

    /** The instructions that write it, guarded or not, by block. */
    private final Map<Integer, List<Integer>> writes = new HashMap<>();

    /**
     * For each block, the literals (see {@link Guards}) under each of which the register is written
     * where the block starts, {@link Guards#ALWAYS} among them; null where control never comes, and
     * where no read of the register asks.
     */
    private final @Nullable BitSet[] start;

    OneRegister(Register register) {
      this.register = register;
      for (int at : writers.getOrDefault(register.id(), List.of())) {
        writes.computeIfAbsent(blockOf[at], _ -> new ArrayList<>()).add(at);
      }
      BitSet behind = behindWrites();
      BitSet open = new BitSet();
      start = new BitSet[blocks.size()];
      BitSet before = beforeReads();
      for (int block = before.nextSetBit(0); block >= 0; block = before.nextSetBit(block + 1)) {
        if (nowhere[block] == null) {
          continue;
        }
        if (behind.get(block)) {
          open.set(block);
        } else {
          start[block] = nowhere[block]; // no write has any say here
        }
      }
      for (int block : writes.keySet()) {
        // Whatever held before, it is written at the end: nothing before it matters.
        if (start[block] == null && nowhere[block] != null && !before.get(block)) {
          start[block] = new BitSet();
        }
      }
      settle(start, this, open);
    }

    /** Blocks that control may come to behind a write. */
    private BitSet behindWrites() {
      BitSet behind = new BitSet();
      Deque<Integer> next = new ArrayDeque<>(writes.keySet());
      while (!next.isEmpty()) {
        for (int successor : blocks.get(next.remove()).successors()) {
          if (!behind.get(successor)) {
            behind.set(successor);
            next.add(successor);
          }
        }
      }
      return behind;
    }

    /** Blocks with a read, and those from which control may come there without a certain write. */
    private BitSet beforeReads() {
      BitSet before = new BitSet();
      Deque<Integer> next = new ArrayDeque<>();
      for (int at : readers.getOrDefault(register.id(), List.of())) {
        if (!before.get(blockOf[at])) {
          before.set(blockOf[at]);
          next.add(blockOf[at]);
        }
      }
      while (!next.isEmpty()) {
        for (int from : predecessors.get(next.remove())) {
          if (!before.get(from) && !writesForCertain(from)) {
            before.set(from);
            next.add(from);
          }
        }
      }
      return before;
    }

    private boolean writesForCertain(int block) {
      return writes.getOrDefault(block, List.of()).stream()
          .anyMatch(at -> code.get(at).guard() == null);
    }

    private BitSet through(int block, BitSet before) {
      BitSet holds = (BitSet) before.clone();
      Guards.Walk walk = guards.walk(block);
      for (int i = blocks.get(block).first(); i < blocks.get(block).end(); i++) {
        step(i, holds, walk);
      }
      return holds;
    }

    private void step(int at, BitSet holds, Guards.Walk walk) {
      Instruction instruction = code.get(at);
      boolean writes = isIn(written[at]);
      int literal = guards.literal(instruction);
      boolean certain = writes && (literal == Guards.ALWAYS || walk.knows(literal));
      walk.step(at, holds);
      if (certain) {
        holds.set(Guards.ALWAYS);
      } else if (writes && !guards.changes(at, literal)) {
        holds.set(literal);
        if (holds.get(Guards.not(literal))) {
          holds.set(Guards.ALWAYS);
        }
      }
    }

    private boolean isIn(Register[] some) {
      for (Register each : some) {
        if (each.equals(register)) {
          return true;
        }
      }
      return false;
    }

    @Nullable Finding firstRead() {
      for (int number :
          readers.getOrDefault(register.id(), List.of()).stream()
              .map(at -> blockOf[at])
              .distinct()
              .toList()) {
        FunctionListing.Block block = blocks.get(number);
        BitSet before = start[number];
        if (before == null) {
          continue;
        }
        BitSet holds = (BitSet) before.clone();
        Guards.Walk walk = guards.walk(number);
        for (int i = block.first(); i < block.end(); i++) {
          if (isIn(read[i]) && !walk.implies(holds, guards.readsUnder(code.get(i), register))) {
            Finding finding = finding(block, i);
            if (finding != null) {
              return finding;
            }
          }
          step(i, holds, walk);
        }
      }
      return null;
    }

    private @Nullable Finding finding(FunctionListing.Block block, int at) {
      boolean may = false;
      boolean behindLoops = true;
      for (Map.Entry<Integer, List<Integer>> entry : writes.entrySet()) {
        FunctionListing.Block writer = blocks.get(entry.getKey());
        boolean itself = writer.number() == block.number();
        List<Integer> places = entry.getValue();
        boolean before = itself && places.getFirst() < at;
        boolean around = nowhere[writer.number()] != null;
        if (before || (around && reaches(writer.number(), block.number()))) {
          may = true;
          behindLoops &=
              reaches(writer.number(), writer.number())
                  && !reaches(block.number(), writer.number());
        }
      }
      Instruction read = code.get(at);
      boolean decides = read.guard() != null && read.guard().predicate().equals(register);
      boolean passes = !decides && read.name().equals("st") && read.has("param");
      boolean copies = !decides && read.name().equals("mov");
      if (passes || (may && (behindLoops || copies))) {
        return null;
      }
      return new Finding(read, register, !may, may ? parting(block.number()) : null);
    }

    /** Returns true if control may come from the end of a block to the start of another one. */
    private boolean reaches(int from, int to) {
      boolean[] seen = new boolean[blocks.size()];
      blocks.get(from).successors().forEach(next -> mark(next, seen));
      return seen[to];
    }

    private void mark(int block, boolean[] seen) {
      Deque<Integer> open = new ArrayDeque<>(List.of(block));
      while (!open.isEmpty()) {
        int next = open.remove();
        if (!seen[next]) {
          seen[next] = true;
          open.addAll(blocks.get(next).successors());
        }
      }
    }

    /** The last branch of a shortest way without a write whose other way leads to one. */
    private @Nullable Instruction parting(int read) {
      int[] from = new int[blocks.size()];
      Arrays.fill(from, -1);
      Deque<Integer> open = new ArrayDeque<>(List.of(0));
      while (!open.isEmpty() && from[read] < 0) {
        FunctionListing.Block block = blocks.get(open.remove());
        if (!writes.containsKey(block.number())) {
          for (int next : block.successors()) {
            if (next != 0 && from[next] < 0) {
              from[next] = block.number();
              open.add(next);
            }
          }
        }
      }
      for (int to = read, at = from[read]; at >= 0; to = at, at = from[at]) {
        for (int other : blocks.get(at).successors()) {
          if (other != to && leadsToWrite(other, read)) {
            return code.get(blocks.get(at).end() - 1);
          }
        }
      }
      return null;
    }

    private boolean leadsToWrite(int block, int read) {
      boolean[] seen = new boolean[blocks.size()];
      seen[read] = true;
      mark(block, seen);
      return blocks.stream()
          .anyMatch(
              other ->
                  other.number() != read
                      && seen[other.number()]
                      && writes.containsKey(other.number()));
    }
  }
}
