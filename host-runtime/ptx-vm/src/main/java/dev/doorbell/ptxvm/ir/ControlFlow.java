package dev.doorbell.ptxvm.ir;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Where control may go in a function, instruction by instruction. */
public final class ControlFlow {
  private final List<int[]> successors = new ArrayList<>();
  private final List<List<Integer>> predecessors = new ArrayList<>();

  public ControlFlow(Function function) {
    List<Instruction> code = function.code();
    for (int i = 0; i < code.size(); i++) {
      predecessors.add(new ArrayList<>());
    }
    for (int i = 0; i < code.size(); i++) {
      Instruction instruction = code.get(i);
      BitSet next = new BitSet();
      if (!instruction.endsFlow() && i + 1 < code.size()) {
        next.set(i + 1);
      }
      for (int target : Function.targets(instruction)) {
        if (target < code.size()) {
          next.set(target);
        }
      }
      successors.add(next.stream().toArray());
      for (int successor : successors.get(i)) {
        predecessors.get(successor).add(i);
      }
    }
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
    List<Integer> open = new ArrayList<>();
    if (!body.get(tail)) {
      body.set(tail);
      open.add(tail);
    }
    while (!open.isEmpty()) {
      for (int before : predecessors.get(open.removeLast())) {
        if (!body.get(before)) {
          body.set(before);
          open.add(before);
        }
      }
    }
    return body;
  }
}
