package dev.doorbell.ptxvm.ir;

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

  /** Assigns the slots of {@code function}. */
  public static Slots of(Function function, ControlFlow flow) {
    Slots slots = new Slots(function.registers().size());
    slots.scan(intervals(function, flow));
    return slots;
  }

  /** The slot of a register. */
  public int of(Register register) {
    return slot[register.id()];
  }

  /** The number of slots. */
  public int count() {
    return count;
  }

  private record Interval(int register, int first, int last) {}

  private static List<Interval> intervals(Function function, ControlFlow flow) {
    int size = function.code().size();
    int registers = function.registers().size();
    BitSet[] liveIn = liveIn(function, flow, size);
    int[] first = new int[registers];
    int[] last = new int[registers];
    Arrays.fill(first, Integer.MAX_VALUE);
    Arrays.fill(last, -1);
    for (int i = 0; i < size; i++) {
      int at = i;
      Instruction instruction = function.code().get(i);
      Dataflow.writes(instruction, register -> touch(first, last, register.id(), at));
      Dataflow.reads(instruction, register -> touch(first, last, register.id(), at));
      liveIn[i].stream().forEach(register -> touch(first, last, register, at));
      for (int successor : flow.successors(i)) {
        liveIn[successor].stream().forEach(register -> touch(first, last, register, at));
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

  private static void touch(int[] first, int[] last, int register, int at) {
    first[register] = Math.min(first[register], at);
    last[register] = Math.max(last[register], at);
  }

  private static BitSet[] liveIn(Function function, ControlFlow flow, int size) {
    BitSet[] liveIn = new BitSet[size];
    for (int i = 0; i < size; i++) {
      liveIn[i] = new BitSet();
    }
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int i = size - 1; i >= 0; i--) {
        BitSet live = new BitSet();
        for (int successor : flow.successors(i)) {
          live.or(liveIn[successor]);
        }
        Instruction instruction = function.code().get(i);
        if (instruction.guard() == null) {
          Dataflow.writes(instruction, register -> live.clear(register.id()));
        }
        Dataflow.reads(instruction, register -> live.set(register.id()));
        if (!live.equals(liveIn[i])) {
          liveIn[i] = live;
          changed = true;
        }
      }
    }
    return liveIn;
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
