package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.device.RealHca;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.List;

/** What a point of a transfer needs and a real HCA lacks, each with its fix. */
final class VerbsChecks {
  private static final List<String> QUEUES = List.of("sq", "cq", "record");

  private VerbsChecks() {}

  static void of(Point point, ExecutionBackend.Verbs backend, List<Problem> problems) {
    HcaAttributes has = backend.attributes();
    RealHca hca = backend.hca();
    String word = point.text("path");
    TransferPath path = TransferPath.of(word);
    if (path.needsBlueFlame() && has.blueFlameBytes() < SendQueue.BLOCK) {
      problems.add(
          lacks(point, hca, "path %s, and no BlueFlame register".formatted(word))
              .effect("WQEs cannot be stored to the device")
              .fix(
                  "-s path=pull,push.inline,staged,proxy"
                      + (hca.driver() == RealHca.Driver.POSTED ? ", or hca: mlx5" : "")));
    }
    if (path == TransferPath.PUSH_MEMIC && has.onChipBytes() < TransferShape.STAGING_BYTES) {
      problems.add(
          lacks(
                  point,
                  hca,
                  "path %s, and %d bytes of on-chip memory".formatted(word, has.onChipBytes()))
              .effect("%d are needed".formatted(TransferShape.STAGING_BYTES))
              .fix("leave the path out, or use hca: soft"));
    }
    if (path.inline() && point.whole("size") > has.maxInlineBytes()) {
      problems.add(
          lacks(
                  point,
                  hca,
                  "%d bytes inline, of at most %d"
                      .formatted(point.whole("size"), has.maxInlineBytes()))
              .fix("exclude: { path: %s, size: \">%d\" }".formatted(word, has.maxInlineBytes())));
    }
    long depth = point.whole("depth");
    if (depth < has.minSendBlocks() || depth > has.maxSendBlocks()) {
      problems.add(
          lacks(point, hca, "a send ring of %d blocks".formatted(depth))
              .fix(
                  "use a depth from %d to %d".formatted(has.minSendBlocks(), has.maxSendBlocks())));
    }
    if (hca.driver() == RealHca.Driver.POSTED && backend.ordinal() != ExecutionBackend.Verbs.VM) {
      for (String queue : QUEUES) {
        if (!point.text(queue).equals("host")) {
          problems.add(
              lacks(point, hca, "%s in the memory of a real GPU".formatted(queue))
                  .effect("the CPU carries WQEs to ibv_post_send and has to read them")
                  .fix("-s %s=host, or hca: mlx5".formatted(queue)));
        }
      }
    }
    if (!point.faults().faults().isEmpty()) {
      problems.add(
          lacks(point, hca, "a fault plan")
              .effect("software HCAs alone do harm on demand")
              .fix("use hca: soft"));
    }
  }

  private static Problem lacks(Point point, RealHca hca, String what) {
    return Problem.of("DB-P022", point.id(), "%s on hca: %s".formatted(what, hca.word()));
  }
}
