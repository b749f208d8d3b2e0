package dev.doorbell.experiments.session;

import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.plan.Point;
import java.util.List;

/** What is impossible about a point of a transfer, found without running it. */
final class TransferChecks {
  private static final int TAG_BYTES = 8;
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
    if (TransferPath.of(path).inline() && size > MOST_INLINE) {
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
    if (point.whole("qps") != 1) {
      problems.add(
          Problem.of("DB-P014", point.id(), "qps is %d".formatted(point.whole("qps")))
              .effect("the kernels of this experiment post to one queue pair")
              .fix("use qps: 1"));
    }
    refuse(point, problems, "offset", "0");
    refuse(point, problems, "scope", "thread");
    refuse(point, problems, "threads", "1");
    refuse(point, problems, "chunk", Integer.toString(TransferShape.CHUNK_BYTES));
    refuse(point, problems, "relaxed", "false");
    if (point.whole("window") < 1) {
      problems.add(Problem.of("DB-P015", point.id(), "window must be at least 1"));
    }
  }

  /** A setting that this experiment's kernels have one value for is refused, not ignored. */
  private static void refuse(Point point, List<Problem> problems, String setting, String only) {
    if (point.has(setting) && !point.text(setting).equals(only)) {
      problems.add(
          Problem.of("DB-P016", point.id(), "%s is %s".formatted(setting, point.text(setting)))
              .effect("this experiment runs with %s %s only".formatted(setting, only))
              .fix("leave %s out".formatted(setting)));
    }
  }
}
