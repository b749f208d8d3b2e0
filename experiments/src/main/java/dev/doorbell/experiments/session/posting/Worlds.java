package dev.doorbell.experiments.session.posting;

import dev.doorbell.core.fabric.timed.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.session.World;
import dev.doorbell.experiments.session.family.Substrate;
import dev.doorbell.softhca.SoftHcaOptions;

/** The worlds that such points run in: two ranks, whatever the substrate. */
final class Worlds {
  private Worlds() {}

  static World of(Point point, Topology topology, Substrate substrate) throws PointFailure {
    try {
      return switch (substrate) {
        case Substrate.Virtual() ->
            World.timed(topology, 2, (int) point.whole("mtu"), point.seed(), Trace.NONE);
        case Substrate.Wall() -> World.direct(2, 0, SoftHcaOptions.DEFAULT);
        case Substrate.Cuda(int ordinal) -> World.cuda(ordinal, 2, SoftHcaOptions.DEFAULT);
        case Substrate.Verbs _ ->
            throw new PointFailure(
                PointFailure.Kind.WAIVED,
                Problem.of("DB-P026", point.id(), "not on a real HCA yet")
                    .effect("no result")
                    .fix("use hca: soft"));
      };
    } catch (GpuException e) {
      throw new PointFailure(
          PointFailure.Kind.FAILED,
          Problem.of("DB-P001", point.id(), String.valueOf(e.getMessage())).effect("no result"),
          e);
    }
  }

  /** Refuses what the world cannot do, instead of doing something else. */
  static void requireAll(Point point, World world, PostingShape shape) throws PointFailure {
    require(point, world, "sq", shape.placement().sendRing());
    require(point, world, "cq", shape.placement().completionRing());
    require(point, world, "record", shape.placement().record());
    require(point, world, "payload", shape.payload());
  }

  private static void require(Point point, World world, String setting, MemoryKind wanted)
      throws PointFailure {
    if (world.rank(0).payload() == MemoryKind.HOST && wanted != MemoryKind.HOST) {
      throw new PointFailure(
          PointFailure.Kind.WAIVED,
          Problem.of(
                  "DB-P026",
                  point.id(),
                  "%s in %s memory, which a software HCA does not reach on a real GPU"
                      .formatted(setting, wanted.word()))
              .effect("no result")
              .fix("use %s: host".formatted(setting)));
    }
  }
}
