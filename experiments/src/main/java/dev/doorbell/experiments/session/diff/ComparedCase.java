package dev.doorbell.experiments.session.diff;

import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.session.transfer.TransferPath;
import dev.doorbell.experiments.session.world.Endpoint;
import dev.doorbell.experiments.session.world.Placement;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Random parameters of a kernel whose end does not depend on who came first: where several post,
 * each has messages of its own, and the ring holds all that is posted.
 *
 * @param kernel of the catalogue
 * @param path how payload gets to the HCA
 * @param placement of the queues
 * @param payload kind of memory
 * @param blocks of the launch
 * @param threads of a block
 * @param scope {@code JobView.SCOPE_*}
 * @param opcode {@code JobView.OP_*}
 * @param bytes of a message
 * @param iterations of a poster
 * @param warmup of a poster
 * @param window operations in flight
 * @param ringBlocks of the send ring, and entries of the completion ring
 * @param queuePairs that posters share
 * @param exclusive one thread posts
 * @param collapsed one completion entry
 * @param batch ring at the latest when so many blocks wait
 * @param mover of a real GPU
 */
record ComparedCase(
    String kernel,
    TransferPath path,
    Placement placement,
    MemoryKind payload,
    int blocks,
    int threads,
    int scope,
    int opcode,
    int bytes,
    int iterations,
    int warmup,
    int window,
    int ringBlocks,
    int queuePairs,
    boolean exclusive,
    boolean collapsed,
    int batch,
    CudaGpu.Mover mover) {
  static final List<String> KERNELS =
      List.of("put_latency", "put_bandwidth", "put_rate", "post_once", "operations", "restartable");

  private static final int WARP = 32;
  private static final int MOST_INLINE = 200;
  private static final int MOST_RING = 1024;
  private static final int BLOCKS_A_POST = 4;

  /** The parameters of a run. */
  static ComparedCase random(String kernel, SplittableRandom random) {
    boolean rate = kernel.equals("put_rate");
    boolean restarts = kernel.equals("restartable");
    boolean lists = kernel.equals("operations") || restarts;
    TransferPath path = path(kernel, random);
    int scope = JobView.SCOPE_BLOCK;
    if (rate) {
      scope = random.nextBoolean() ? JobView.SCOPE_THREAD : JobView.SCOPE_WARP;
    } else if (restarts) {
      scope = JobView.SCOPE_THREAD;
    } else if (lists) {
      scope = random.nextInt(3);
    }
    boolean alone = !(rate || lists) || random.nextInt(3) == 0;
    int blocks = alone ? 1 : 1 + random.nextInt(4);
    int threads = threads(random, scope, alone, path, rate || lists);
    int opcode = opcode(kernel, path, random);
    int iterations = 1 + random.nextInt(rate || lists ? 6 : 40);
    int warmup = lists ? 0 : random.nextInt(4);
    int posters = blocks * threads;
    int ring = 1 << (3 + random.nextInt(6));
    while (!alone && ring < BLOCKS_A_POST * posters * (iterations + warmup) && ring < MOST_RING) {
      ring *= 2;
    }
    if (!alone) {
      // What a ring that has gone round still holds depends on who came last.
      int posts = ring / (BLOCKS_A_POST * posters);
      warmup = Math.min(warmup, posts - 1);
      iterations = Math.min(iterations, posts - warmup);
    }
    return new ComparedCase(
        kernel,
        path,
        new Placement(where(random), where(random), where(random)),
        where(random),
        blocks,
        threads,
        scope,
        opcode,
        bytes(random, path, opcode),
        iterations,
        warmup,
        1 + random.nextInt(16),
        ring,
        alone || restarts ? 1 : 1 + random.nextInt(2),
        alone && random.nextBoolean() && scope != JobView.SCOPE_WARP,
        alone && random.nextInt(4) == 0,
        1 + random.nextInt(4),
        random.nextBoolean() ? CudaGpu.Mover.COPY : CudaGpu.Mover.KERNEL);
  }

  private static TransferPath path(String kernel, SplittableRandom random) {
    List<TransferPath> possible =
        switch (kernel) {
          case "put_rate", "operations", "restartable" ->
              List.of(TransferPath.PULL, TransferPath.PULL_BF, TransferPath.PUSH_INLINE);
          default ->
              List.of(
                  TransferPath.PULL,
                  TransferPath.PULL_BF,
                  TransferPath.PUSH_INLINE,
                  TransferPath.PUSH_BF,
                  TransferPath.PUSH_MEMIC,
                  TransferPath.STAGED);
        };
    return possible.get(random.nextInt(possible.size()));
  }

  private static int threads(
      SplittableRandom random, int scope, boolean alone, TransferPath path, boolean many) {
    boolean copies = path.jobPath() == JobView.PATH_STAGE;
    if (!many) {
      return copies ? WARP << random.nextInt(4) : 1;
    }
    if (scope == JobView.SCOPE_THREAD) {
      return alone ? 1 : 1 + random.nextInt(2 * WARP);
    }
    return scope == JobView.SCOPE_WARP && alone ? WARP : WARP * (1 + random.nextInt(2));
  }

  private static int opcode(String kernel, TransferPath path, SplittableRandom random) {
    if (path.jobPath() != JobView.PATH_PULL || kernel.equals("put_latency")) {
      return JobView.OP_PUT;
    }
    return switch (kernel) {
      case "post_once" ->
          List.of(JobView.OP_PUT, JobView.OP_GET, JobView.OP_FETCH_ADD, JobView.OP_COMPARE_SWAP)
              .get(random.nextInt(4));
      case "put_rate" ->
          List.of(JobView.OP_PUT, JobView.OP_GET, JobView.OP_PUT_INLINE).get(random.nextInt(3));
      default -> JobView.OP_PUT;
    };
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

  /** Whether each poster has a list of operations of its own. */
  boolean executesLists() {
    return kernel.equals("operations") || kernel.equals("restartable");
  }

  /** True when the order of what was posted depends on the schedule. */
  boolean races() {
    boolean one = blocks == 1 && (threads == 1 || scope != JobView.SCOPE_THREAD);
    // Warps of a block, too, and blocks.
    return !one || (scope == JobView.SCOPE_WARP && threads > WARP);
  }

  Endpoint.Shape endpoint(long deadlineNanos) {
    return new Endpoint.Shape(
        ringBlocks,
        ringBlocks,
        collapsed,
        placement,
        path.blueFlame(),
        false,
        exclusive,
        batch,
        deadlineNanos);
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s sq=%s cq=%s record=%s payload=%s %dx%d scope=%d opcode=%d %d B x %d+%d window=%d ring=%d qps=%d%s%s batch=%d mover=%s",
        path.word(),
        placement.sendRing().word(),
        placement.completionRing().word(),
        placement.record().word(),
        payload.word(),
        blocks,
        threads,
        scope,
        opcode,
        bytes,
        iterations,
        warmup,
        window,
        ringBlocks,
        queuePairs,
        exclusive ? " exclusive" : "",
        collapsed ? " collapsed" : "",
        batch,
        mover.name().toLowerCase(Locale.ROOT));
  }
}
