package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import java.util.List;

/** What is impossible about a point of a transfer, found without running it. */
final class TransferChecks {
  private static final String LATENCY = "latency";
  private static final int TAG_BYTES = 8;
  private static final int UNIT = 16;
  private static final int MOST_INLINE = 220;
  private static final int MOST_BLOCKS = 32768;
  private static final int LARGEST_WQE_BLOCKS = 4;
  private static final long MOST_BYTES = 1L << 30;

  private TransferChecks() {}

  static void of(Point point, List<Problem> problems) {
    String path = point.text("path");
    if (!TransferPath.words().contains(path)) {
      problems.add(
          Problem.of("DB-P010", point.id(), "unknown path '%s'".formatted(path))
              .fix("use one of " + String.join(", ", TransferPath.words())));
      return;
    }
    long size = point.whole("size");
    if (size < TAG_BYTES || size % TAG_BYTES != 0 || size > MOST_BYTES) {
      problems.add(
          Problem.of("DB-P011", point.id(), "a message of %d bytes".formatted(size))
              .effect("the ping-pong marks each message in its last 8 bytes")
              .fix("use multiples of 8 up to 1 GiB"));
    }
    long lanes = TransferShape.byWarp(point) ? TransferShape.WARP : 1;
    if (TransferPath.of(path).inline() && size > lanes * MOST_INLINE) {
      problems.add(
          Problem.of("DB-P012", point.id(), "%d bytes do not fit inline".formatted(size))
              .effect("four 64-byte blocks hold 220 bytes of inline payload")
              .fix("exclude: { path: %s, size: \">220\" }".formatted(path)));
    }
    long depth = point.whole("depth");
    if (Long.bitCount(depth) != 1 || depth < LARGEST_WQE_BLOCKS || depth > MOST_BLOCKS) {
      problems.add(
          Problem.of("DB-P013", point.id(), "a send ring of %d blocks".formatted(depth))
              .fix("use a power of two from 4 to 32768"));
    }
    boolean pingPong = point.metrics().contains(LATENCY);
    if (pingPong && point.whole("qps") != 1) {
      problems.add(
          Problem.of(
                  "DB-P014", point.id(), "latency on %d queue pairs".formatted(point.whole("qps")))
              .effect("a ping-pong has one message in flight, on one queue pair")
              .fix("use qps: 1, or measure goodput alone"));
    }
    if (pingPong && point.flag("relaxed")) {
      problems.add(
          Problem.of("DB-P014", point.id(), "latency with relaxed ordering")
              .effect("a ping-pong waits for a message's last word, which may then pass the others")
              .fix("use relaxed: false, or measure goodput alone"));
    }
    if (pingPong && point.whole("offset") % TAG_BYTES != 0) {
      problems.add(
          Problem.of("DB-P014", point.id(), "latency at offset %d".formatted(point.whole("offset")))
              .effect("a ping-pong marks each message in an aligned word of 8 bytes")
              .fix("use multiples of 8, or measure goodput alone"));
    }
    long chunk = TransferShape.slotBytes(point);
    boolean stages = TransferPath.of(path).jobPath() == JobView.PATH_STAGE;
    if (stages && (chunk % UNIT != 0 || chunk * point.whole("qps") > TransferShape.STAGING_BYTES)) {
      problems.add(
          Problem.of(
                  "DB-P016",
                  point.id(),
                  "chunks of %d bytes for %d queue pairs".formatted(chunk, point.whole("qps")))
              .effect("they share a staging area of 256 KiB in units of 16 bytes")
              .fix("use a smaller chunk, a multiple of 16"));
    }
    if (TransferShape.byWarp(point)) {
      checkWarp(point, problems);
    }
    if (point.whole("window") < 1) {
      problems.add(Problem.of("DB-P015", point.id(), "window must be at least 1"));
    }
  }

  /** A warp posts a message in a piece a lane. */
  private static void checkWarp(Point point, List<Problem> problems) {
    TransferPath path = TransferPath.of(point.text("path"));
    if (path != TransferPath.PULL && path != TransferPath.PUSH_INLINE) {
      problems.add(
          Problem.of("DB-P016", point.id(), "scope is warp on path " + path.word())
              .effect(
                  "staged payload is posted by its block, BlueFlame carries one WQE alone, and a"
                      + " CPU posts in any order")
              .fix("use path: pull or push.inline, or leave scope out"));
    }
    if (point.whole("depth") < TransferShape.WARP * LARGEST_WQE_BLOCKS) {
      problems.add(
          Problem.of(
                  "DB-P016",
                  point.id(),
                  "scope is warp with a send ring of %d blocks".formatted(point.whole("depth")))
              .effect("the WQEs of all lanes are reserved at once, up to 128 blocks")
              .fix("use depth: 128 or more"));
    }
    long threads = point.whole("threads");
    if (threads > 1 && threads != TransferShape.WARP) {
      problems.add(
          Problem.of("DB-P016", point.id(), "scope is warp with %d threads".formatted(threads))
              .effect("a poster is a warp: 32 threads")
              .fix("leave threads out"));
    }
    long size = point.whole("size");
    if (size % (TransferShape.WARP * TAG_BYTES) != 0) {
      problems.add(
          Problem.of("DB-P016", point.id(), "scope is warp with %d bytes".formatted(size))
              .effect("each lane sends as many bytes, a multiple of 8")
              .fix("use multiples of 256"));
    }
  }
}
