package dev.doorbell.experiments.workbench.diff;

import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.JobFields;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.scenario.kernel.KernelScope;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Placement;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Random parameters of a kernel, taken from its descriptor and its {@link Choice}. Where several
 * post, the ring holds all that is posted: what one that has gone round still holds depends on who
 * came last.
 */
record ComparedCase(
    Protocol protocol,
    TransferPath path,
    Placement placement,
    MemoryKind payload,
    int blocks,
    int threads,
    int scope,
    String operation,
    int bytes,
    int iterations,
    int warmup,
    int window,
    int ringBlocks,
    int queuePairs,
    int ranks,
    boolean exclusive,
    boolean collapsed,
    int batch,
    CudaGpu.Mover mover) {
  /** The values that parameters of a kernel take; empty lists leave them to the descriptor. */
  private record Choice(
      List<Integer> blocks,
      List<Integer> threads,
      List<Integer> queuePairs,
      List<String> scopes,
      List<String> opcodes) {
    private static final Choice NONE =
        new Choice(List.of(), List.of(), List.of(), List.of(), List.of());
    private static final List<Integer> BLOCKS = List.of(1, 2, 3, 4);
    private static final List<Integer> THREADS = List.of(1, 5, 31, 32, 33, 64);

    static Choice of(Protocol protocol) {
      return switch (protocol.own() ? protocol.name() : "") {
        case "operations" -> launched(List.of(1, 2), List.of("thread", "warp", "block"));
        case "put_rate" ->
            new Choice(
                BLOCKS,
                THREADS,
                List.of(1, 2),
                List.of("thread", "warp"),
                List.of("put", "get", "put_inline"));
        case "post_once" ->
            new Choice(
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of("put", "get", "fetch_add", "compare_swap"));
        default -> NONE;
      };
    }

    private static Choice launched(List<Integer> queuePairs, List<String> scopes) {
      return new Choice(BLOCKS, THREADS, queuePairs, scopes, List.of());
    }
  }

  static final int MOST_RING = 1 << 15;

  private static final String PUT = "put";
  private static final int WARP = 32;
  private static final int MOST_INLINE = 200;
  private static final int MOST_RING_AT_FIRST = 1024;
  private static final int MOST_WINDOW = 16;
  private static final int MOST_ITERATIONS = 40;
  private static final int MOST_OF_MANY = 6;
  private static final int BLOCKS_A_POST = 4;
  private static final int MOST_RANKS = 4;

  static ComparedCase random(Protocol protocol, SplittableRandom random) {
    KernelDescriptor.Launch launch = protocol.descriptor().launch();
    Choice choice = Choice.of(protocol);
    TransferPath path = path(protocol, random);
    int scope = scope(choice, random);
    boolean one = launch.shared() && random.nextInt(3) == 0;
    int blocks =
        one
            ? least(choice.blocks(), launch.blocks())
            : pick(choice.blocks(), launch.blocks(), random);
    int threads =
        one
            ? least(choice.threads(), launch.threads())
            : pick(choice.threads(), threads(launch, path, random), random);
    if (scope == JobView.SCOPE_WARP) {
      threads = Math.ceilDiv(Math.max(1, threads), WARP) * WARP;
    }
    String operation = operation(choice, path, random);
    int most = launch.shared() ? MOST_OF_MANY : MOST_ITERATIONS;
    int iterations = 1 + random.nextInt(most);
    boolean lists = executesLists(protocol);
    int warmup = lists || !protocol.own() ? 0 : random.nextInt(4);
    int window = 1 + random.nextInt(MOST_WINDOW);
    if (launch.windowSlots()) {
      // Every slot is used, or it could not be compared with what was sent.
      iterations = Math.max(iterations, window);
    }
    boolean races = races(protocol, path, blocks, threads, scope);
    int ring = 1 << (3 + random.nextInt(6));
    int posters = blocks * threads;
    while (races
        && ring < BLOCKS_A_POST * posters * (iterations + warmup)
        && ring < MOST_RING_AT_FIRST) {
      ring *= 2;
    }
    if (races) {
      int posts = Math.max(1, ring / (BLOCKS_A_POST * posters));
      warmup = Math.min(warmup, posts - 1);
      iterations = Math.min(iterations, posts - warmup);
    }
    return new ComparedCase(
        protocol,
        path,
        path == TransferPath.PROXY
            ? Placement.HOST
            : new Placement(where(random), where(random), where(random)),
        where(random),
        blocks,
        threads,
        scope,
        operation,
        bytes(random, path, opcode(operation)),
        iterations,
        warmup,
        window,
        ring,
        pick(choice.queuePairs(), 1, random),
        launch.allRanks() ? 2 + random.nextInt(MOST_RANKS - 1) : 2,
        !races && random.nextBoolean() && scope != JobView.SCOPE_WARP,
        !races && random.nextInt(4) == 0,
        1 + random.nextInt(4),
        random.nextBoolean() ? CudaGpu.Mover.COPY : CudaGpu.Mover.KERNEL);
  }

  KernelScope memory() {
    KernelExtension extension = protocol.descriptor().extension();
    return new KernelScope(
        extension,
        KernelScope.standard(extension),
        bytes,
        ranks,
        window,
        blocks,
        threads,
        iterations,
        warmup);
  }

  private static int pick(List<Integer> choices, int otherwise, SplittableRandom random) {
    return choices.isEmpty() ? otherwise : choices.get(random.nextInt(choices.size()));
  }

  private static int least(List<Integer> choices, int otherwise) {
    return choices.stream().mapToInt(Integer::intValue).min().orElse(Math.max(1, otherwise));
  }

  private static TransferPath path(Protocol protocol, SplittableRandom random) {
    List<TransferPath> possible =
        Arrays.stream(TransferPath.values())
            .filter(path -> protocol.descriptor().takes(path.word()))
            .toList();
    return possible.get(random.nextInt(possible.size()));
  }

  private static int scope(Choice choice, SplittableRandom random) {
    if (choice.scopes().isEmpty()) {
      return JobView.SCOPE_BLOCK;
    }
    return switch (choice.scopes().get(random.nextInt(choice.scopes().size()))) {
      case "thread" -> JobView.SCOPE_THREAD;
      case "warp" -> JobView.SCOPE_WARP;
      default -> JobView.SCOPE_BLOCK;
    };
  }

  private static int threads(
      KernelDescriptor.Launch launch, TransferPath path, SplittableRandom random) {
    if (launch.threads() > 0) {
      return launch.threads();
    }
    return path.jobPath() == JobView.PATH_STAGE ? WARP << random.nextInt(4) : 1;
  }

  private static String operation(Choice choice, TransferPath path, SplittableRandom random) {
    return path.jobPath() != JobView.PATH_PULL || choice.opcodes().isEmpty()
        ? PUT
        : choice.opcodes().get(random.nextInt(choice.opcodes().size()));
  }

  int opcode() {
    return opcode(operation);
  }

  private static int opcode(String operation) {
    try {
      return JobFields.class.getField("OP_" + operation.toUpperCase(Locale.ROOT)).getInt(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the schema lets through the opcode " + operation, e);
    }
  }

  private static int bytes(SplittableRandom random, TransferPath path, int opcode) {
    if (opcode == JobView.OP_FETCH_ADD || opcode == JobView.OP_COMPARE_SWAP) {
      return Long.BYTES;
    }
    boolean inline = path.inline() || opcode == JobView.OP_PUT_INLINE;
    int most = inline ? MOST_INLINE : 1 << (3 + random.nextInt(13));
    return Math.max(Long.BYTES, random.nextInt(most + 1) & -Long.BYTES);
  }

  private static MemoryKind where(SplittableRandom random) {
    return random.nextBoolean() ? MemoryKind.DEVICE : MemoryKind.HOST;
  }

  boolean executesLists() {
    return executesLists(protocol);
  }

  private static boolean executesLists(Protocol protocol) {
    return protocol.own() && protocol.name().equals("operations");
  }

  /** True when the order of what was posted depends on the schedule. */
  boolean races() {
    return races(protocol, path, blocks, threads, scope);
  }

  private static boolean races(
      Protocol protocol, TransferPath path, int blocks, int threads, int scope) {
    if (!protocol.descriptor().launch().shared() || blocks * threads == 1) {
      return false;
    }
    // To a CPU each lane hands its own command, whatever the scope.
    if (Choice.of(protocol).scopes().isEmpty() || path == TransferPath.PROXY) {
      return true;
    }
    boolean one = blocks == 1 && scope != JobView.SCOPE_THREAD;
    // Warps of a block, too, and blocks.
    return !one || (scope == JobView.SCOPE_WARP && threads > WARP);
  }

  boolean amongAll() {
    return protocol.descriptor().launch().allRanks();
  }

  int slots() {
    return amongAll() ? ranks : protocol.slots(ranks, protocol.grid(blocks, threads, 1), window);
  }

  /** Returns true if payload arrives as it is. */
  boolean puts() {
    return opcode() == JobView.OP_PUT || opcode() == JobView.OP_PUT_INLINE;
  }

  ComparedCase withRing(int larger) {
    return new ComparedCase(
        protocol,
        path,
        placement,
        payload,
        blocks,
        threads,
        scope,
        operation,
        bytes,
        iterations,
        warmup,
        window,
        larger,
        queuePairs,
        ranks,
        exclusive,
        collapsed,
        batch,
        mover);
  }

  Connection.Ringing ringing() {
    return path == TransferPath.PROXY ? Connection.Ringing.PROXY : Connection.Ringing.GPU;
  }

  Endpoint.Shape endpoint(long deadlineNanos) {
    return Endpoint.Shape.builder(ringBlocks, deadlineNanos)
        .collapsed(collapsed)
        .placement(placement)
        .blueFlame(path.blueFlame())
        .exclusive(exclusive)
        .batch(batch)
        .build();
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s sq=%s cq=%s record=%s payload=%s %d x %d thread%s%s%s %d B x %d%s window=%d ring=%d"
            + " %s%s%s batch=%d mover=%s",
        path.word(),
        placement.sendRing().word(),
        placement.completionRing().word(),
        placement.record().word(),
        payload.word(),
        blocks,
        threads,
        threads == 1 ? "" : "s",
        scope == JobView.SCOPE_BLOCK
            ? ""
            : scope == JobView.SCOPE_WARP ? " scope=warp" : " scope=thread",
        operation.equals(PUT) ? "" : " " + operation,
        bytes,
        iterations,
        warmup == 0 ? "" : "+" + warmup,
        window,
        ringBlocks,
        amongAll() ? "ranks=" + ranks : "qps=" + queuePairs,
        exclusive ? " exclusive" : "",
        collapsed ? " collapsed" : "",
        batch,
        mover.name().toLowerCase(Locale.ROOT));
  }
}
