package dev.doorbell.ptxjit.warp;

import dev.doorbell.ptxjit.flow.DivergenceAnalysis;
import dev.doorbell.ptxjit.flow.FlowGraph;
import dev.doorbell.ptxjit.flow.Webs;
import dev.doorbell.ptxjit.warp.CompiledWarp.WarpCode;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Locations of a warp's values, and where they go when lanes come and leave. */
final class RegisterAllocation {
  private final Program program;
  private final LinkedFunction callee;
  private final FlowGraph graph;
  private final List<BitSet> live;
  private final Webs webs;
  private final DivergenceAnalysis divergence;
  private final Map<Integer, Integer> columns = new HashMap<>();
  private final Map<Integer, Integer> uniforms = new HashMap<>();
  private final List<WarpCode.Crossing> crossings = new ArrayList<>();
  private final Map<Long, Integer> known = new HashMap<>();

  RegisterAllocation(
      Program program,
      LinkedFunction callee,
      FlowGraph graph,
      List<BitSet> live,
      Webs webs,
      DivergenceAnalysis divergence) {
    this.program = program;
    this.callee = callee;
    this.graph = graph;
    this.live = live;
    this.webs = webs;
    this.divergence = divergence;
  }

  Program program() {
    return program;
  }

  FlowGraph graph() {
    return graph;
  }

  LinkedFunction callee() {
    return callee;
  }

  Op op(int index) {
    return callee.op(index);
  }

  BitSet live(int index) {
    return live.get(index);
  }

  /** The web of a slot where lanes are that went through all instructions before {@code index}. */
  int webAt(int index, int slot) {
    return webs.has(index) ? webs.before(index, slot) : webs.after(index - 1, slot);
  }

  int webBefore(int index, int slot) {
    return webs.before(index, slot);
  }

  int webAfter(int index, int slot) {
    return webs.after(index, slot);
  }

  boolean isVarying(int web) {
    return divergence.isVarying(web);
  }

  /** True when the slot holds the same in all lanes before the instruction. */
  boolean isUniform(int index, int slot) {
    return program.isConstant(slot)
        || (live.get(index).get(slot) && !isVarying(webs.before(index, slot)));
  }

  /** True when the slot's values are in a column before the instruction. */
  boolean isColumn(int index, int slot) {
    return live.get(index).get(slot) && isVarying(webs.before(index, slot));
  }

  /** The first index of a web's column, or the complement of its index among common values. */
  int location(int web) {
    return isVarying(web)
        ? columns.computeIfAbsent(web, key -> columns.size()) * WarpCode.COLUMN
        : ~uniforms.computeIfAbsent(web, key -> uniforms.size());
  }

  int columns() {
    return columns.size();
  }

  int uniforms() {
    return uniforms.size();
  }

  WarpCode.Crossing[] crossings() {
    return crossings.toArray(new WarpCode.Crossing[0]);
  }

  WarpCode.Crossing crossing(int number) {
    return crossings.get(number);
  }

  /** Returns the crossing of what is alive before an instruction. */
  int before(int index) {
    return known.computeIfAbsent(
        (long) index, key -> add(index, live.get(index), slot -> webBefore(index, slot)));
  }

  /** Returns the crossing of what is alive on the way from an instruction to another. */
  int between(int from, int to) {
    return known.computeIfAbsent(
        ((from + 1L) << 32) | to, key -> add(to, live.get(to), slot -> webAfter(from, slot)));
  }

  /** Returns the crossing of what an instruction reads. */
  int reads(int index) {
    return add(index, graph.nodes().get(index).reads(), slot -> webBefore(index, slot));
  }

  /** Returns the crossing of what an instruction writes. */
  int writes(int index) {
    return add(index, graph.nodes().get(index).writes(), slot -> webAfter(index, slot));
  }

  private int add(int index, BitSet slots, IntUnaryOperator webOf) {
    int[] list = slots.stream().toArray();
    int[] locations = IntStream.of(list).map(slot -> location(webOf.applyAsInt(slot))).toArray();
    crossings.add(new WarpCode.Crossing(callee.op(index), list, locations));
    return crossings.size() - 1;
  }
}
