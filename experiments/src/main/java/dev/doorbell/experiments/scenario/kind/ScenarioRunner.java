package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;

/**
 * Runs a point of any kind: reads its settings, has its kind build worlds and perform trials in
 * them, translates what goes wrong into the point's failure, and collects the result. {@link
 * PointRun} has what the kinds share.
 */
public final class ScenarioRunner {
  private ScenarioRunner() {}

  /**
   * Runs one point.
   *
   * @throws PointFailure when there is no result to be trusted; of kind {@code WAIVED} where the
   *     backend cannot run such points
   */
  public static <S extends Record> PointResult run(
      ExperimentKind<S> kind,
      Point point,
      PointContext context,
      Topology topology,
      ExecutionBackend backend)
      throws PointFailure {
    PointRun<S> run;
    try {
      run = new PointRun<>(point, kind.read(point), context, topology, backend);
    } catch (SettingException e) {
      throw new PointFailure(PointFailure.Kind.FAILED, e.problem(), e);
    }
    try {
      kind.measure(run);
      return run.result();
    } catch (GpuException e) {
      throw run.failed("DB-P001", String.valueOf(e.getMessage()));
    } catch (HcaException e) {
      throw run.failed("DB-P008", String.valueOf(e.getMessage()));
    } finally {
      run.reportFaults();
    }
  }
}
