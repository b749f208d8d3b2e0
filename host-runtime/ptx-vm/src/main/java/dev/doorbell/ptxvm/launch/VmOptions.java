package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.agent.ForwardProgress;

/**
 * Options of the virtual GPU. {@link #defaults} suits most; the others narrow one thing each.
 *
 * @param maxResidentBlocks blocks that run at once; more run in waves, and a cooperative launch of
 *     more is refused
 * @param engine what runs the kernels
 * @param compileAfter instructions of a kernel, of all its threads together, that are interpreted
 *     before it is compiled; 0 compiles it at once, {@link Long#MAX_VALUE} never
 * @param progress which threads go on while others wait
 * @param computeCapability major times ten plus minor; a file whose target is higher is refused
 */
public record VmOptions(
    int maxResidentBlocks,
    Engine engine,
    long compileAfter,
    ForwardProgress progress,
    int computeCapability) {

  /** Reported by attributes and {@code %nsmid}. */
  static final int MULTIPROCESSORS = 16;

  /** Limit of static plus dynamic shared memory. */
  static final int SHARED_BYTES_PER_BLOCK = 227 << 10;

  /** Local memory of a thread for the frames of recursive functions. */
  static final int STACK_BYTES = 64 << 10;

  /**
   * Longest time for which a fabric with virtual time parks a thread that polls and watches a
   * clock.
   */
  static final long POLL_NANOS = 1_000_000;

  /** Compiling costs about as much as interpreting this many instructions. */
  private static final long WORTH_COMPILING = 2_000_000;

  /**
   * Engine that runs a kernel's instructions. Results are the same; speed and time to start are
   * not.
   */
  public enum Engine {
    /**
     * Interpret at first; compile a kernel that has run for a while, on a direct fabric, as {@link
     * #WARP} does. Virtual time and exploration need every access at its port: the first compiles
     * what lies between accesses, the other stays with the interpreter.
     */
    AUTO,
    /** Interpret always. */
    INTERPRETER,
    /** Compile before the first instruction, on a direct fabric. */
    WARP
  }

  public VmOptions {
    if (maxResidentBlocks < 1 || compileAfter < 0) {
      throw new IllegalArgumentException("sizes of a GPU must be positive");
    }
    if (engine == Engine.INTERPRETER) {
      compileAfter = Long.MAX_VALUE;
    }
  }

  /**
   * 128 resident blocks and the engine that the system property {@code doorbell.engine} names:
   * {@code auto}, {@code interpreter} or {@code warp}; auto where it is not set. The property
   * {@code doorbell.engine.after} gives {@link #compileAfter}, the property {@code
   * doorbell.compute} gives {@link #computeCapability}: 90 where it is not set.
   */
  public static VmOptions defaults() {
    Engine engine = chosen();
    long after = Long.getLong("doorbell.engine.after", compileAfter(engine));
    int capability = Integer.getInteger("doorbell.compute", 90);
    return new VmOptions(128, engine, after, ForwardProgress.FAIR, capability);
  }

  private static long compileAfter(Engine engine) {
    return switch (engine) {
      case AUTO -> WORTH_COMPILING;
      case INTERPRETER -> Long.MAX_VALUE;
      case WARP -> 0;
    };
  }

  private static Engine chosen() {
    String name = System.getProperty("doorbell.engine", Engine.AUTO.name());
    for (Engine engine : Engine.values()) {
      if (engine.name().equalsIgnoreCase(name)) {
        return engine;
      }
    }
    throw new IllegalArgumentException(
        "doorbell.engine=%s: auto, interpreter or warp is possible".formatted(name));
  }

  public VmOptions withMaxResidentBlocks(int blocks) {
    return new VmOptions(blocks, engine, compileAfter, progress, computeCapability);
  }

  /** The same with another engine, which compiles when that engine does. */
  public VmOptions withEngine(Engine other) {
    return new VmOptions(
        maxResidentBlocks, other, compileAfter(other), progress, computeCapability);
  }

  /** The same, with kernels compiled after another number of instructions. */
  public VmOptions withCompileAfter(long instructions) {
    return new VmOptions(maxResidentBlocks, engine, instructions, progress, computeCapability);
  }

  /** The same with another choice of the threads that go on; the interpreter alone keeps it. */
  public VmOptions withProgress(ForwardProgress other) {
    return new VmOptions(maxResidentBlocks, engine, compileAfter, other, computeCapability);
  }
}
