package dev.doorbell.ptxvm.ir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** Control flow of a function, instruction by instruction. */
public final class ControlFlow {
  private static final int[] NONE = {};

  private final List<int[]> successors = new ArrayList<>();
  private final int[][] predecessors;

  public ControlFlow(Function function) {
    List<Instruction> code = function.code();
    for (int i = 0; i < code.size(); i++) {
      Instruction instruction = code.get(i);
      boolean goesOn = !instruction.endsFlow() && i + 1 < code.size();
      List<Integer> targets = Function.targets(instruction);
      if (targets.isEmpty()) {
        successors.add(goesOn ? new int[] {i + 1} : NONE);
        continue;
      }
      BitSet next = new BitSet();
      next.set(i + 1, goesOn ? i + 2 : i + 1);
      targets.stream().filter(target -> target < code.size()).forEach(next::set);
      successors.add(next.stream().toArray());
    }
    predecessors = reversed(successors);
  }

  private static int[][] reversed(List<int[]> edges) {
    int[] counts = new int[edges.size()];
    for (int[] from : edges) {
      for (int to : from) {
        counts[to]++;
      }
    }
    int[][] reversed = new int[edges.size()][];
    for (int i = 0; i < reversed.length; i++) {
      reversed[i] = new int[counts[i]];
    }
    for (int from = edges.size() - 1; from >= 0; from--) {
      for (int to : edges.get(from)) {
        reversed[to][--counts[to]] = from;
      }
    }
    return reversed;
  }

  /** The instructions that may come right after {@code index}. */
  public int[] successors(int index) {
    return successors.get(index);
  }

  /**
   * The natural loop of the edge from {@code tail} back to {@code head}: the head and whatever
   * reaches the tail without passing it.
   */
  public BitSet loop(int head, int tail) {
    BitSet body = new BitSet();
    body.set(head);
    int[] open = new int[16];
    int count = 0;
    if (!body.get(tail)) {
      body.set(tail);
      open[count++] = tail;
    }
    while (count > 0) {
      for (int before : predecessors[open[--count]]) {
        if (!body.get(before)) {
          body.set(before);
          open = count < open.length ? open : Arrays.copyOf(open, 2 * count);
          open[count++] = before;
        }
      }
    }
    return body;
  }
}
