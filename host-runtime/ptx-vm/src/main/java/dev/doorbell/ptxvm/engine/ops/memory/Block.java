package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Operations that only compute and follow each other, up to an access or a jump, in a program whose
 * accesses take virtual time. It stands in place of the first of them, which may wait for loads.
 * Where it is executed often, code takes its place that also goes on with what comes behind it: see
 * {@link BlockCompiler}. What a thread does, and how many instructions it has executed when, are
 * the same.
 *
 * <p>Threads of different GPUs may execute it at the same time: either of two compilations will do.
 */
public final class Block extends Op {
  private final Op first;
  private final List<Op> ops;
  private final int hot;
  private final int @Nullable [] awaited;
  private @Nullable Program program;
  private int executions;
  private volatile BlockCompiler.@Nullable Code code;

  /** The block without what comes behind it, for steps that have few instructions left. */
  private volatile BlockCompiler.@Nullable Code alone;

  private Block(List<Op> given, int hot) {
    this.first = given.getFirst();
    this.ops =
        given.stream().map(op -> op instanceof ScoreboardWait wait ? wait.inner() : op).toList();
    this.hot = hot;
    this.awaited = first instanceof ScoreboardWait wait ? wait.slots() : null;
    this.place = first.place;
    this.stall = first.stall;
  }

  /**
   * A block in place of the first of its operations.
   *
   * @param ops in order; the first one may be a {@link ScoreboardWait} for some registers, the last
   *     one a branch
   * @param hot executions after which it is compiled
   */
  public static Block of(List<Op> ops, int hot) {
    return new Block(ops, hot);
  }

  /** Says what its operations are linked into; they are interpreted until then. */
  public void linked(Program into) {
    program = into;
  }

  /** Its operations, without the wait. */
  public List<Op> operations() {
    return ops;
  }

  /** The slots whose loads the first operation waits for; null: none. */
  public int @Nullable [] awaited() {
    return awaited;
  }

  @Override
  public void follow(@Nullable Op after) {
    super.follow(after);
    first.follow(after);
  }

  @Override
  public Op bare() {
    return first.bare();
  }

  @Override
  public Op interpreted() {
    return first;
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    BlockCompiler.Code compiled = code;
    if (compiled == null) {
      if (++executions >= hot) {
        compile();
      }
      return first.execute(t, r);
    }
    if (t.left >= compiled.most) {
      return compiled.execute(t, r);
    }
    BlockCompiler.Code own = alone;
    if (own == null) {
      own = compileAlone();
    }
    // A step ends between two of its instructions where the thread has fewer left.
    return own == null || t.left < own.most ? first.execute(t, r) : own.execute(t, r);
  }

  private void compile() {
    Program into = program;
    executions = Integer.MIN_VALUE;
    BlockCompiler compiler = BlockCompiler.OF_CLASS_PATH;
    if (into != null && compiler != null) {
      code = compiler.compile(into, this, true);
    }
  }

  private BlockCompiler.@Nullable Code compileAlone() {
    Program into = program;
    BlockCompiler compiler = BlockCompiler.OF_CLASS_PATH;
    if (into != null && compiler != null) {
      alone = compiler.compile(into, this, false);
    }
    return alone;
  }
}
