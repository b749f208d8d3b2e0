package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Puts the registers of a function into as few slots as their lives allow. Names in PTX are used
 * once and never again; a file of a thousand of them would not stay in a cache, forty slots do.
 *
 * <p>Liveness by backward dataflow, then a linear scan (Poletto and Sarkar, TOPLAS 1999) over
 * intervals of instruction indices. A register written by an instruction never shares the slot of
 * one that it reads, so that an instruction may be issued again.
 */
public final class Slots {
  private final int[] slot;
  private int count;

  private Slots(int registers) {
    slot = new int[registers];
    Arrays.fill(slot, -1);
  }

  public static Slots of(Function function, ControlFlow flow) {
    Slots slots = new Slots(function.registers().size());
    slots.scan(intervals(function, flow));
    return slots;
  }

  public int of(Register register) {
    return slot[register.id()];
  }

  public int count() {
    return count;
  }

  private record Interval(int register, int first, int last) {}

  private static List<Interval> intervals(Function function, ControlFlow flow) {
    int size = function.code().size();
    int registers = function.registers().size();
    int[][] reads = new int[size][];
    int[][] writes = new int[size][];
    List<Register> some = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      Dataflow.reads(function.code().get(i), some::add);
      reads[i] = ids(some);
      Dataflow.writes(function.code().get(i), some::add);
      writes[i] = ids(some);
    }
    int[] first = new int[registers];
    int[] last = new int[registers];
    Arrays.fill(first, Integer.MAX_VALUE);
    Arrays.fill(last, -1);
    List<Block> blocks = Block.of(function, flow);
    liveness(blocks, flow, function, reads, writes);
    for (Block block : blocks) {
      // A life crosses an end of the block, or begins at a write and ends at a read.
      touch(first, last, block.out, block.end - 1);
      touch(first, last, block.in, block.start);
      for (int i = block.start; i < block.end; i++) {
        touch(first, last, writes[i], i);
        touch(first, last, reads[i], i);
      }
    }
    List<Interval> intervals = new ArrayList<>();
    for (int i = 0; i < registers; i++) {
      if (last[i] >= 0) {
        intervals.add(new Interval(i, first[i], last[i]));
      }
    }
    intervals.sort(Comparator.comparingInt(Interval::first));
    return intervals;
  }

  /** Empties the list into their numbers. */
  private static int[] ids(List<Register> registers) {
    int[] ids = new int[registers.size()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = registers.get(i).id();
    }
    registers.clear();
    return ids;
  }

  private static void touch(int[] first, int[] last, int[] registers, int at) {
    for (int register : registers) {
      touch(first, last, register, at);
    }
  }

  private static void touch(int[] first, int[] last, BitSet registers, int at) {
    for (int register = registers.nextSetBit(0); register >= 0; ) {
      touch(first, last, register, at);
      register = registers.nextSetBit(register + 1);
    }
  }

  private static void touch(int[] first, int[] last, int register, int at) {
    first[register] = Math.min(first[register], at);
    last[register] = Math.max(last[register], at);
  }

  /** Instructions that are executed one after the other. */
  private static final class Block {
    final int start;
    final int end;
    final BitSet in = new BitSet();
    final BitSet out = new BitSet();
    boolean visited;

    private Block(int start, int end) {
      this.start = start;
      this.end = end;
    }

    static List<Block> of(Function function, ControlFlow flow) {
      int size = function.code().size();
      BitSet starts = new BitSet();
      for (int i = 0; i < size; i++) {
        int[] successors = flow.successors(i);
        if (successors.length != 1 || successors[0] != i + 1) {
          starts.set(i + 1);
          Arrays.stream(successors).forEach(starts::set);
        }
      }
      List<Block> blocks = new ArrayList<>();
      for (int start = 0; start < size; ) {
        int next = starts.nextSetBit(start + 1);
        int end = next < 0 || next > size ? size : next;
        blocks.add(new Block(start, end));
        start = end;
      }
      return blocks;
    }
  }

  /** Registers alive before and behind each block, by backward dataflow. */
  private static void liveness(
      List<Block> blocks, ControlFlow flow, Function function, int[][] reads, int[][] writes) {
    Block[] startingAt = new Block[reads.length];
    blocks.forEach(block -> startingAt[block.start] = block);
    BitSet live = new BitSet();
    boolean changed = true;
    while (changed) {
      changed = false;
      for (Block block : blocks.reversed()) {
        live.clear();
        for (int successor : flow.successors(block.end - 1)) {
          live.or(startingAt[successor].in);
        }
        if (block.visited && live.equals(block.out)) {
          continue;
        }
        block.visited = true;
        block.out.clear();
        block.out.or(live);
        for (int i = block.end - 1; i >= block.start; i--) {
          step(live, function, reads, writes, i);
        }
        if (!live.equals(block.in)) {
          block.in.clear();
          block.in.or(live);
          changed = true;
        }
      }
    }
  }

  /** From what lives behind an instruction to what lives before it. */
  private static void step(
      BitSet live, Function function, int[][] reads, int[][] writes, int index) {
    if (function.code().get(index).guard() == null) {
      for (int register : writes[index]) {
        live.clear(register);
      }
    }
    for (int register : reads[index]) {
      live.set(register);
    }
  }

  private void scan(List<Interval> intervals) {
    PriorityQueue<Interval> active = new PriorityQueue<>(Comparator.comparingInt(Interval::last));
    PriorityQueue<Integer> free = new PriorityQueue<>();
    for (Interval interval : intervals) {
      while (!active.isEmpty() && active.peek().last < interval.first) {
        free.add(slot[active.remove().register]);
      }
      Integer reused = free.poll();
      slot[interval.register] = reused == null ? count++ : reused;
      active.add(interval);
    }
  }
}
