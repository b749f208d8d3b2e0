package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxvm.compiler.FlowGraph;
import dev.doorbell.ptxvm.compiler.Regions;
import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Slots;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fast engine: turns the functions of a kernel into bytecode, region by region, and links the
 * regions into the program in place of the operations that they do.
 *
 * <p>Each region is a hidden class of its own; when its module goes, so does the class.
 */
final class Compiler {
  /** HotSpot compiles no method larger than this (HugeMethodLimit). */
  static final int HUGE_METHOD = 8000;

  private static final int[] REGION_BYTES = {5500, 3500, 2200, 1400, 800};

  /** Larger loops that also do something visible are not watched for polling. */
  private static final int MOST_WATCHED = 96;

  private final Program program;
  private final NativeCode.Memory memory;
  private final int[] counts;

  private Compiler(Program program, NativeCode.Memory memory, int[] counts) {
    this.program = program;
    this.memory = memory;
    this.counts = counts;
  }

  /** A region that is written and not linked yet. */
  private record Written(RegionWriter writer, Class<? extends Entry> type) {}

  /**
   * Compiles and links a kernel. Threads may be anywhere between two operations meanwhile.
   *
   * @param counts how often each operation was executed, by place; may be empty
   * @return null, or why the kernel stays with the interpreter
   */
  static @Nullable String compile(Program program, AddressSpace memory, int[] counts) {
    Compiler compiler = new Compiler(program, new NativeCode.Memory(memory.pageTable()), counts);
    Map<Callee, List<Written>> all = new HashMap<>();
    for (Callee callee : program.callees()) {
      for (Op op : callee.ops) {
        if (Shape.bare(op) instanceof Branch branch && branch.target == null) {
          return "'" + callee.function.name() + "' branches behind its end";
        }
      }
      if (callee.ops.isEmpty()) {
        continue;
      }
      List<Written> written = compiler.write(callee);
      if (written == null) {
        return "a block of '" + callee.function.name() + "' is too large for one method";
      }
      all.put(callee, written);
    }
    all.forEach(Compiler::link);
    return null;
  }

  static Op op(Callee callee, int index) {
    Op op = callee.ops.get(index);
    if (op == null) {
      throw new IllegalStateException("a refused instruction cannot be compiled");
    }
    return op;
  }

  static Slots slots(Callee callee) {
    Slots slots = callee.slots;
    if (slots == null) {
      throw new IllegalStateException("no slots in " + callee.function.name());
    }
    return slots;
  }

  private @Nullable List<Written> write(Callee callee) {
    FlowGraph graph = Shape.graph(callee, program, counts);
    List<BitSet> live = graph.liveIn();
    BitSet tracked = tracked(callee);
    for (int limit : REGION_BYTES) {
      Regions plan = Regions.plan(graph, limit);
      List<byte[]> classes = new ArrayList<>();
      List<RegionWriter> writers = new ArrayList<>();
      boolean fits = true;
      for (BitSet members : plan.members()) {
        RegionWriter writer =
            new RegionWriter(program, callee, graph, live, plan, members, tracked, memory);
        byte[] bytes = writer.write();
        writers.add(writer);
        classes.add(bytes);
        fits &= codeBytes(bytes) < HUGE_METHOD;
      }
      if (fits) {
        List<Written> written = new ArrayList<>();
        for (int k = 0; k < classes.size(); k++) {
          RegionWriter writer = writers.get(k);
          written.add(new Written(writer, define(classes.get(k), writer.classData.objects())));
        }
        return written;
      }
    }
    return null;
  }

  /** The largest method of a class file, without its constructor. */
  static int codeBytes(byte[] file) {
    return ClassFile.of().parse(file).methods().stream()
        .filter(method -> !method.methodName().equalsString(ConstantDescs.INIT_NAME))
        .flatMap(method -> method.code().stream())
        .mapToInt(code -> ((CodeAttribute) code).codeLength())
        .max()
        .orElse(0);
  }

  /**
   * Where loads and effects are noted, so that a round that found nothing is recognised: in
   * functions, which loops of others may call, and in loops that may poll. A large loop that also
   * acts is let run; the budget bounds what it wastes.
   */
  static BitSet tracked(Callee callee) {
    BitSet tracked = new BitSet();
    int size = callee.ops.size();
    if (!callee.function.entry()) {
      tracked.set(0, size);
      return tracked;
    }
    ControlFlow flow = new ControlFlow(callee.function);
    for (int i = 0; i < size; i++) {
      if (op(callee, i) instanceof Branch branch && branch.loop != null) {
        for (int target : Function.targets(callee.function.code().get(i))) {
          BitSet body = flow.loop(target, i);
          if (target <= i && (branch.loop.pure() || body.cardinality() <= MOST_WATCHED)) {
            tracked.or(body);
          }
        }
      }
    }
    return tracked;
  }

  private static Class<? extends Entry> define(byte[] file, List<Object> data) {
    try {
      return MethodHandles.lookup()
          .defineHiddenClassWithClassData(file, data, false)
          .lookupClass()
          .asSubclass(Entry.class);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("generated code was refused", e);
    }
  }

  /** Makes the doors of all regions and puts them where the operations stood. */
  private static void link(Callee callee, List<Written> regions) {
    Map<Op, Entry> doors = new HashMap<>();
    for (Written region : regions) {
      List<Integer> indices = region.writer.doors;
      for (int door = 0; door < indices.size(); door++) {
        Op replaced = op(callee, indices.get(door));
        Entry entry = make(region.type);
        entry.door = door;
        entry.place = replaced.place;
        entry.next = replaced.next;
        entry.replaced = replaced;
        doors.put(replaced, entry);
      }
    }
    for (Written region : regions) {
      region.writer.elsewhere.forEach(
          (index, at) -> {
            Entry entry = doors.get(op(callee, index));
            if (entry == null) {
              throw new IllegalStateException("no door at instruction " + index);
            }
            region.writer.classData.objects().set(at, entry);
          });
    }
    for (Op op : callee.ops) {
      redirect(op, doors);
    }
    callee.entries = doors;
    callee.first = doors.getOrDefault(callee.first, null);
  }

  private static void redirect(@Nullable Op op, Map<Op, Entry> doors) {
    if (op == null) {
      return;
    }
    Entry next = op.next == null ? null : doors.get(op.next);
    op.next = next == null ? op.next : next;
    switch (op) {
      case Guarded guarded -> {
        guarded.inner.next = guarded.next;
        redirect(guarded.inner, doors);
      }
      case Branch branch -> branch.target = through(branch.target, doors);
      case Flow.Indexed indexed -> {
        for (int k = 0; k < indexed.targets.length; k++) {
          indexed.targets[k] = through(indexed.targets[k], doors);
        }
      }
      default -> {}
    }
  }

  private static @Nullable Op through(@Nullable Op target, Map<Op, Entry> doors) {
    Entry entry = target == null ? null : doors.get(target);
    return entry == null ? target : entry;
  }

  private static Entry make(Class<? extends Entry> type) {
    try {
      return type.getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type.getName(), e);
    }
  }
}
