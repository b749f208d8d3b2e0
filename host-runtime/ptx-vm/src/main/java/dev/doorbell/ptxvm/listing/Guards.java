package dev.doorbell.ptxvm.listing;

import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Opcode;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Facts about predicates in a function. A literal is a predicate or its opposite, as a number; a
 * set of literals is a {@link BitSet}.
 */
final class Guards {
  /** The literal that is always true. */
  static final int ALWAYS = 0;

  private final List<Instruction> code;
  private final List<FunctionListing.Block> blocks;
  private final Register[][] written;

  /** Predicates by the number of their register, from 1; 0 for other registers. */
  private final int[] predicates;

  /** One more than the largest literal. */
  private final int literals;

  /** The literals known to be true where a block starts; null where control never comes. */
  private final List<@Nullable BitSet> start = new ArrayList<>();

  /** Facts on the edges that were asked for, by block and number of its predecessor. */
  private final @Nullable Edge[][] edges;

  /**
   * @param written what each instruction writes
   */
  Guards(FunctionListing listing, List<List<Integer>> predecessors, Register[][] written) {
    Function function = listing.function();
    this.written = written;
    code = function.code();
    blocks = listing.blocks();
    predicates = new int[function.registers().size()];
    int count = 0;
    for (Register register : function.registers()) {
      if (register.type() == ScalarType.PRED) {
        predicates[register.id()] = ++count;
      }
    }
    literals = 2 + 2 * count;
    edges = new Edge[blocks.size()][];
    for (int i = 0; i < edges.length; i++) {
      edges[i] = new Edge[predecessors.get(i).size()];
    }
    blocks.forEach(_ -> start.add(null));
    start.set(0, new BitSet());
    Deque<Integer> open = new ArrayDeque<>(List.of(0));
    while (!open.isEmpty()) {
      for (int next : blocks.get(open.remove()).successors()) {
        BitSet met = next == 0 ? new BitSet() : null;
        for (int from : predecessors.get(next)) {
          if (start.get(from) != null) {
            BitSet known = onEdge(from, next);
            if (met == null) {
              met = known;
            } else {
              met.and(known);
            }
          }
        }
        if (met != null && !met.equals(start.get(next))) {
          start.set(next, met);
          open.add(next);
        }
      }
    }
  }

  private int literal(Register predicate, boolean negated) {
    return 2 * predicates[predicate.id()] + (negated ? 1 : 0);
  }

  /** Under which literal an instruction does anything. */
  int literal(Instruction instruction) {
    Instruction.Guard guard = instruction.guard();
    return guard == null ? ALWAYS : literal(guard.predicate(), guard.negated());
  }

  /** The opposite of a literal that is not {@link #ALWAYS}. */
  static int not(int literal) {
    return literal ^ 1;
  }

  /** Returns true if the instruction at an index writes the predicate of a literal. */
  boolean changes(int at, int literal) {
    for (Register register : written[at]) {
      if (register.type() == ScalarType.PRED && literal >> 1 == predicates[register.id()]) {
        return true;
      }
    }
    return false;
  }

  /** Literals that are true when an instruction looks at what a register holds. */
  BitSet readsUnder(Instruction instruction, Register register) {
    BitSet literals = new BitSet();
    Instruction.Guard guard = instruction.guard();
    if (guard != null && !guard.predicate().equals(register)) {
      literals.set(literal(instruction));
    }
    List<Operand> operands = instruction.operands();
    if (instruction.name().equals("selp")
        && operands.size() == 4
        && operands.get(3) instanceof Operand.Reg(Register chooser)
        && !chooser.equals(register)) {
      Operand asked = new Operand.Reg(register);
      boolean first = operands.get(1).equals(asked);
      boolean second = operands.get(2).equals(asked);
      if (first != second) {
        literals.set(literal(chooser, second));
      }
    }
    return literals;
  }

  /** Follows what is known through a block. */
  Walk walk(int block) {
    BitSet known = start.get(block);
    return new Walk(known == null ? new BitSet() : (BitSet) known.clone());
  }

  /** Facts at a place in a block. */
  final class Walk {
    private final BitSet known;

    private Walk(BitSet known) {
      this.known = known;
    }

    boolean knows(int literal) {
      return known.get(literal);
    }

    /** Returns true if one of {@code any} is known, or among {@code more}. */
    boolean implies(BitSet any, BitSet more) {
      return any.get(ALWAYS) || any.intersects(known) || any.intersects(more);
    }

    /** Goes past an instruction; of a predicate that it writes, {@code facts} says nothing more. */
    void step(int at, BitSet facts) {
      forget(known, at);
      forget(facts, at);
      Instruction instruction = code.get(at);
      if (instruction.guard() != null && Opcode.of(instruction.name()).leaves()) {
        known.set(not(literal(instruction)));
      }
    }
  }

  /** Removes the predicates that an instruction writes from {@code facts}. */
  void forget(BitSet facts, int at) {
    for (Register register : written[at]) {
      if (register.type() == ScalarType.PRED) {
        facts.clear(literal(register, false));
        facts.clear(literal(register, true));
      }
    }
  }

  /** Returns the facts on the edge from a block to another, in a set of the caller's own. */
  private BitSet onEdge(int from, int to) {
    FunctionListing.Block block = blocks.get(from);
    Walk walk = walk(from);
    BitSet none = new BitSet();
    for (int i = block.first(); i < block.end(); i++) {
      walk.step(i, none);
    }
    Instruction last = code.get(block.end() - 1);
    if (last.guard() != null && !Opcode.of(last.name()).leaves()) {
      boolean taken =
          Function.targets(last).stream().anyMatch(target -> target == blocks.get(to).first());
      boolean passed = block.end() < code.size() && blocks.get(to).first() == block.end();
      if (taken != passed && last.name().startsWith("br")) {
        walk.known.set(taken ? literal(last) : not(literal(last)));
      }
    }
    return walk.known;
  }

  /**
   * Facts on the edge from a block to another.
   *
   * @param known the literals that are true
   * @param impossible those that are false
   */
  private record Edge(BitSet known, BitSet impossible) {}

  private Edge edge(int from, int to) {
    BitSet known = onEdge(from, to);
    BitSet impossible = new BitSet();
    for (int i = known.nextSetBit(0); i >= 0; i = known.nextSetBit(i + 1)) {
      impossible.set(not(i));
    }
    return new Edge(known, impossible);
  }

  /**
   * The literals under which something holds at the start of a block, from those under which it
   * holds at the end of one before: all that are known to be false among them, and all where it
   * holds for certain.
   *
   * @param holds becomes the result
   * @param way number of the block before among the predecessors
   */
  BitSet arriving(BitSet holds, int from, int to, int way) {
    Edge[] into = edges[to];
    Edge edge = into[way];
    if (edge == null) {
      edge = edge(from, to);
      into[way] = edge;
    }
    if (holds.get(ALWAYS) || holds.intersects(edge.known)) {
      holds.set(ALWAYS, literals);
    } else {
      holds.or(edge.impossible);
    }
    return holds;
  }
}
