package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.AddressSpace.PageTable;
import dev.doorbell.core.memory.Locus;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** A kernel, ready to run: its operations, and what executes them. */
public final class KernelCode {
  private final KernelImage image;
  private final Program program;

  /** Executions of each operation, by place, while they are counted; else null. */
  int @Nullable [] counts;

  private long untilCompiled = Long.MAX_VALUE;
  private KernelCompiler.Result result = new KernelCompiler.Result(false, "interpreter");
  private boolean settled;

  public KernelCode(KernelImage image, Program program) {
    this.image = image;
    this.program = program;
  }

  public KernelImage image() {
    return image;
  }

  @Nullable Op first() {
    return program.functions().getFirst().first;
  }

  /** Names what executes the kernel. */
  public String engine() {
    return result.engine();
  }

  /** Executions of each operation, by place, those of functions that were linked late included. */
  int @Nullable [] counts() {
    int[] now = counts;
    if (now != null && now.length < image.places().size()) {
      now = Arrays.copyOf(now, image.places().size());
      counts = now;
    }
    return now;
  }

  boolean isCompiled() {
    return result.isCompiled();
  }

  /** Returns true if kernels may be compiled there, so that their operations may change. */
  public static boolean mayCompile(Fabric fabric) {
    return fabric instanceof DirectFabric;
  }

  /**
   * A launch begins. Over a direct fabric the kernel is compiled when it has executed {@code after}
   * instructions in all; what it does until then tells which of its paths belong together.
   */
  void launching(Fabric fabric, Locus locus, long after) {
    if (settled || after == Long.MAX_VALUE) {
      return;
    }
    if (!mayCompile(fabric)) {
      settle("interpreter (accesses take virtual time)");
    } else if (after == 0) {
      compile(fabric.memory().pageTable(locus.rank()));
    } else if (counts == null) {
      counts = new int[image.places().size()];
      untilCompiled = after;
    }
  }

  /** Threads have executed {@code instructions} more. */
  void executed(int instructions, AddressSpace memory, Locus locus) {
    untilCompiled -= instructions;
    if (untilCompiled < 0 && counts != null) {
      compile(memory.pageTable(locus.rank()));
    }
  }

  private void compile(PageTable pages) {
    int[] seen = counts == null ? new int[0] : counts;
    counts = null;
    untilCompiled = Long.MAX_VALUE;
    Optional<KernelCompiler> compiler =
        ServiceLoader.load(KernelCompiler.class, KernelCompiler.class.getClassLoader()).findFirst();
    if (compiler.isEmpty()) {
      settle("interpreter (there is no compiler on the class path)");
    } else {
      settled = true;
      result = compiler.get().compile(program, pages, seen);
    }
  }

  private void settle(String engine) {
    settled = true;
    result = new KernelCompiler.Result(false, engine);
  }

  /**
   * The functions of a kernel and the register file that they share.
   *
   * @param functions the kernel and every function that it may call, the kernel first
   * @param poolStart the first slot that holds a constant or a special register
   * @param constants the register file of a thread that has not begun: what constant slots hold
   * @param specials slots of special registers, which differ from thread to thread
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
  public record Program(
      List<LinkedFunction> functions, int poolStart, long[] constants, BitSet specials) {
    public Program with(long[] others) {
      return new Program(functions, poolStart, others, specials);
    }

    /** True when the slot holds the same value in every thread, always. */
    public boolean isConstant(int slot) {
      return slot >= poolStart && !specials.get(slot);
    }

    public long constant(int slot) {
      return constants[slot];
    }
  }
}
