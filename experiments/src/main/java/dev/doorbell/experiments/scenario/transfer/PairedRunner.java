package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Pairing;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.ExperimentKinds;
import dev.doorbell.interop.access.AccessToken;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.job.ProcessGroup;
import org.jspecify.annotations.Nullable;

/** Runs points one after the other with another process, which runs the same ones. */
public final class PairedRunner implements PointRunner {
  private static final int PROCESSES = 2;

  private final Pairing pairing;
  private final Protocols protocols;
  private final ExperimentKinds kinds;
  private @Nullable ProcessGroup group;
  private @Nullable EnvironmentException broken;

  public PairedRunner(Pairing pairing, Protocols protocols, ExperimentKinds kinds) {
    this.pairing = pairing;
    this.protocols = protocols;
    this.kinds = kinds;
  }

  @Override
  public synchronized PointResult run(Point point, PointContext context) throws PointFailure {
    ExperimentKind<?> kind = kinds.of(point);
    if (!(kind instanceof TransferKind transfers)) {
      throw new PointFailure(
          PointFailure.Kind.WAIVED,
          Problem.of(
              "DB-P017",
              point.id(),
              "points of %s are run in one process".formatted(kind.request())));
    }
    if (protocols.runAmongAll(point)) {
      throw new PointFailure(
          PointFailure.Kind.WAIVED,
          Problem.of("DB-P017", point.id(), "kernels at all ranks are run in one process"));
    }
    if (protocols.bringMemory(point)) {
      throw new PointFailure(
          PointFailure.Kind.WAIVED,
          Problem.of(
                  "DB-P017",
                  point.id(),
                  "kernels with metrics and buffers of their own are run in one process")
              .fix("run it without --pair"));
    }
    EnvironmentException before = broken;
    if (before != null) {
      throw failure(before);
    }
    try {
      ProcessGroup with = group;
      if (with == null) {
        String token = pairing.token();
        with =
            new ProcessGroup(
                pairing.rank(),
                PROCESSES,
                new HostPort(
                    pairing.host(), pairing.port(), token == null ? null : AccessToken.of(token)),
                pairing.patienceNanos());
        group = with;
      }
      return new PairedPoint(point, transfers.read(point), context, protocols, pairing, with).run();
    } catch (EnvironmentException e) {
      // The processes are no longer at the same step, and never will be again.
      broken = e;
      throw failure(e);
    }
  }

  private static PointFailure failure(EnvironmentException e) {
    return new PointFailure(PointFailure.Kind.FAILED, e.problem(), e);
  }
}
