package dev.doorbell.ptxjit.region;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxjit.emit.FlowGraphBuilder;
import dev.doorbell.ptxjit.emit.HiddenClass;
import dev.doorbell.ptxjit.flow.FlowGraph;
import dev.doorbell.ptxjit.flow.Regions;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Program;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Flow;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns the functions of a kernel into bytecode, region by region, and links the regions into the
 * program in place of the operations that they do.
 */
public final class RegionCompiler {
  private static final int[] REGION_BYTES = {5500, 3500, 2200, 1400, 800};

  private final Program program;
  private final AddressSpace.PageTable pages;
  private final int[] counts;

  /** The ways into compiled regions, by the operation in whose place they stand. */
  private final Map<Op, CompiledRegion> entries = new HashMap<>();

  /**
   * @param counts how often each operation was executed, by place; may be empty
   */
  public RegionCompiler(Program program, AddressSpace.PageTable pages, int[] counts) {
    this.program = program;
    this.pages = pages;
    this.counts = counts;
  }

  /** A region that is written and not linked yet. */
  private record Written(RegionEmitter emitter, Class<? extends CompiledRegion> type) {}

  /**
   * Compiles and links a kernel. Threads may be anywhere between two operations meanwhile.
   *
   * @return null, or why the kernel stays with the interpreter
   */
  public @Nullable String compile() {
    Map<LinkedFunction, List<Written>> all = new HashMap<>();
    for (LinkedFunction function : program.functions()) {
      String name = function.function.name();
      for (int i = 0; i < function.ops.size(); i++) {
        if (function.op(i).bare() instanceof Branch branch && branch.target == null) {
          return "'" + name + "' branches behind its end";
        }
      }
      if (!function.ops.isEmpty()) {
        List<Written> written = write(function);
        if (written == null) {
          return "a block of '" + name + "' is too large for one method";
        }
        all.put(function, written);
      }
    }
    all.forEach(this::link);
    return null;
  }

  /** What stands in the program in place of an operation: compiled code, or itself. */
  public Op linked(Op op) {
    CompiledRegion entry = entries.get(op);
    return entry == null ? op : entry;
  }

  private @Nullable List<Written> write(LinkedFunction function) {
    FlowGraph graph = FlowGraphBuilder.graph(function, program, counts);
    List<BitSet> live = graph.liveIn();
    BitSet tracked = FlowGraphBuilder.tracked(function);
    for (int limit : REGION_BYTES) {
      Regions plan = Regions.plan(graph, limit);
      List<byte[]> files = new ArrayList<>();
      List<RegionEmitter> emitters = new ArrayList<>();
      for (BitSet members : plan.members()) {
        RegionEmitter emitter =
            new RegionEmitter(program, function, graph, live, plan, members, tracked, pages);
        emitters.add(emitter);
        files.add(emitter.write());
      }
      if (files.stream().allMatch(HiddenClass::isCompilable)) {
        List<Written> written = new ArrayList<>();
        for (int k = 0; k < files.size(); k++) {
          RegionEmitter emitter = emitters.get(k);
          written.add(
              new Written(
                  emitter,
                  HiddenClass.define(
                      MethodHandles.lookup(),
                      files.get(k),
                      emitter.classData.objects(),
                      CompiledRegion.class)));
        }
        return written;
      }
    }
    return null;
  }

  /** Creates the entries of all regions and puts them where the operations stood. */
  private void link(LinkedFunction function, List<Written> regions) {
    for (Written region : regions) {
      List<Integer> indices = region.emitter.entries;
      for (int number = 0; number < indices.size(); number++) {
        Op replaced = function.op(indices.get(number));
        CompiledRegion entry = HiddenClass.instance(region.type);
        entry.entry = number;
        entry.place = replaced.place;
        entry.next = replaced.next;
        entry.replaced = replaced;
        entries.put(replaced, entry);
      }
    }
    for (Written region : regions) {
      region.emitter.elsewhere.forEach(
          (index, at) -> {
            CompiledRegion entry = entries.get(function.op(index));
            if (entry == null) {
              throw new IllegalStateException("no entry at instruction " + index);
            }
            region.emitter.classData.objects().set(at, entry);
          });
    }
    function.ops.forEach(this::redirect);
    function.first = entries.get(function.op(0));
  }

  private void redirect(@Nullable Op op) {
    if (op == null) {
      return;
    }
    op.next = through(op.next);
    switch (op) {
      case Guarded guarded -> {
        guarded.inner.next = guarded.next;
        redirect(guarded.inner);
      }
      case Branch branch -> branch.target = through(branch.target);
      case Flow.Indexed indexed -> {
        for (int k = 0; k < indexed.targets.length; k++) {
          indexed.targets[k] = through(indexed.targets[k]);
        }
      }
      default -> {}
    }
  }

  private @Nullable Op through(@Nullable Op target) {
    return target == null ? null : linked(target);
  }
}
