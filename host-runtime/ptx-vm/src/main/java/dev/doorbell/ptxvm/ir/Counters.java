package dev.doorbell.ptxvm.ir;

import dev.doorbell.ptxvm.ir.Operand.Register;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a loop counts.
 *
 * @param idle registers that the loop writes, on which none of its branches, accesses and loaded
 *     values depends
 * @param others the other registers of its instructions
 * @param decide one of the others is computed from what it was in an earlier round, so that the
 *     loop may end after some rounds
 */
public record Counters(Set<Register> idle, Set<Register> others, boolean decide) {
  static final Counters NONE = new Counters(Set.of(), Set.of(), false);

  /** The counters of the loop whose instructions are {@code body}. */
  static Counters of(Function function, BitSet body) {
    List<Instruction> arithmetic = new ArrayList<>();
    Set<Register> all = new HashSet<>();
    Set<Register> used = new HashSet<>();
    Map<Register, List<Instruction>> writers = new HashMap<>();
    for (int i = body.nextSetBit(0); i >= 0; i = body.nextSetBit(i + 1)) {
      Instruction instruction = function.code().get(i);
      Set<Register> of = registers(instruction);
      all.addAll(of);
      if (isArithmetic(instruction)) {
        arithmetic.add(instruction);
        Dataflow.writes(
            instruction,
            register -> writers.computeIfAbsent(register, _ -> new ArrayList<>()).add(instruction));
      } else {
        used.addAll(of);
      }
    }
    Deque<Register> open = new ArrayDeque<>(used);
    while (!open.isEmpty()) {
      for (Instruction writer : writers.getOrDefault(open.remove(), List.of())) {
        for (Register register : registers(writer)) {
          if (used.add(register)) {
            open.add(register);
          }
        }
      }
    }
    all.removeAll(used);
    return new Counters(all, used, isCyclic(arithmetic, used));
  }

  /** The same without idle registers. */
  Counters withoutIdle() {
    return new Counters(Set.of(), Set.of(), decide);
  }

  private static Set<Register> registers(Instruction instruction) {
    Set<Register> registers = new HashSet<>();
    Dataflow.reads(instruction, registers::add);
    Dataflow.writes(instruction, registers::add);
    return registers;
  }

  /** Whether an instruction writes registers and does nothing else. */
  private static boolean isArithmetic(Instruction instruction) {
    return Dataflow.hasResult(instruction)
        && !instruction.name().equals("call")
        && instruction.operands().stream().noneMatch(Operand.Address.class::isInstance);
  }

  /** Whether some of the registers are computed from themselves. */
  private static boolean isCyclic(List<Instruction> arithmetic, Set<Register> among) {
    Map<Register, Set<Register>> into = new HashMap<>();
    Map<Register, Integer> waiting = new HashMap<>();
    for (Instruction instruction : arithmetic) {
      Dataflow.writes(
          instruction,
          to ->
              Dataflow.reads(
                  instruction,
                  from -> {
                    if (among.contains(to)
                        && into.computeIfAbsent(from, _ -> new HashSet<>()).add(to)) {
                      waiting.merge(to, 1, Integer::sum);
                    }
                  }));
    }
    Deque<Register> ready = new ArrayDeque<>(into.keySet());
    ready.removeIf(waiting::containsKey);
    while (!ready.isEmpty()) {
      for (Register to : into.getOrDefault(ready.remove(), Set.of())) {
        if (waiting.merge(to, -1, Integer::sum) == 0) {
          waiting.remove(to);
          ready.add(to);
        }
      }
    }
    return !waiting.isEmpty();
  }
}
