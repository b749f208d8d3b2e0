package dev.doorbell.experiments.scenario.collective;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.chakra.ExecutionTrace;
import dev.doorbell.experiments.chakra.ExecutionTrace.Node;
import dev.doorbell.experiments.chakra.ExecutionTrace.Operation;
import dev.doorbell.experiments.chakra.ExecutionTrace.Unit;
import dev.doorbell.experiments.collective.Call.Reduction;
import dev.doorbell.experiments.collective.DataType;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.collective.CollectiveSettings.Buffers;
import dev.doorbell.experiments.scenario.collective.CollectiveSettings.Chosen;
import dev.doorbell.experiments.scenario.collective.CollectiveSettings.Flags;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings.SignalName;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.nio.file.Path;

/**
 * A Chakra execution trace in virtual time: collectives and messages by the kernel {@code
 * collective}, computation as long as the trace or a roofline says. A sample is a rank.
 */
public final class TraceKind extends ExperimentKind<TraceKind.Settings> {
  private static final double OPS_A_NANO = 1e3;

  /**
   * Settings of a point.
   *
   * @param trace path of the files, see {@link ExecutionTrace#read(Path)}
   * @param peak operations of a GPU in units of 10^12 a second; 0: nodes take their durations
   * @param memory bandwidth of a GPU's memory in GB/s; 0: no limit
   */
  record Settings(
      Point point,
      String trace,
      @SettingName("peak_perf") int peak,
      @SettingName("local_mem_bw") int memory,
      Chosen algorithm,
      Flags flags,
      int chunk,
      int channels,
      int threads,
      TransferPath path,
      SignalName signal,
      QueueSettings queues,
      NetworkSettings between) {

    CollectiveSettings of(Operation operation, Chosen by) {
      return new CollectiveSettings(
          point,
          operation.collective(),
          by,
          operation.members().size(),
          Math.toIntExact(operation.size()),
          DataType.FLOAT,
          Reduction.SUM,
          0,
          operation.collective().inPlace() ? Buffers.IN_PLACE : Buffers.OUT_OF_PLACE,
          flags,
          chunk,
          channels,
          threads,
          path,
          signal,
          queues,
          between);
    }

    long nanos(Node node) {
      return node.unit() != Unit.COMPUTE || peak == 0
          ? node.micros() * 1_000
          : Math.round(
              Math.max(
                  node.ops() / (peak * OPS_A_NANO),
                  memory == 0 ? 0 : (double) node.bytes() / memory));
    }
  }

  public TraceKind() {
    super("trace: PATH", ExecutionTrace.CODE, Settings.class);
  }

  @Override
  public boolean applies(Point point) {
    return point.has("trace") && !point.text("trace").equals("none");
  }

  @Override
  protected boolean takesAnyQueues() {
    return true;
  }

  @Override
  protected void check(Settings of, Checks checks) {
    checks.refuseIf(
        of.point.samples() > 1, "samples of a trace", "a sample is a rank", "use samples: 1");
    of.signal.check(of.queues.nic(), checks);
    try {
      ExecutionTrace trace = ExecutionTrace.read(Path.of(of.trace));
      of.between.check(trace.ranks().size(), checks);
      for (int rank = 0; rank < trace.ranks().size(); rank++) {
        for (Node node : trace.ranks().get(rank)) {
          checks.causeIf(
              of.peak == 0 && node.ops() > 0 && node.micros() == 0,
              "rank %d, node %d has num_ops and no duration_micros".formatted(rank, node.id()),
              "it would take no time",
              "use peak_perf, the GPU's 10^12 operations a second, and local_mem_bw in GB/s");
        }
      }
    } catch (ConfigException e) {
      Problem first = e.problems().getFirst();
      checks.causeIf(
          true,
          "%s: %s".formatted(first.where(), first.what()),
          "nothing of the trace is executed",
          String.valueOf(first.fix()));
    }
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    run.requireVirtualTime(
        ExecutionTrace.CODE,
        "traces run in virtual time",
        "use clock: virtual, gpu: vm and hca: soft");
    Settings of = run.settings();
    ExecutionTrace trace;
    try {
      trace = ExecutionTrace.read(Path.of(of.trace));
    } catch (ConfigException e) {
      throw new PointFailure(PointFailure.Kind.FAILED, e.problems().getFirst());
    }
    try (Owned open = new Owned()) {
      World world = open.add(of.between.world(run, trace.ranks().size(), of.queues).open());
      run.inject(world);
      run.report(open.add(new Replay(run, world, trace)).run());
    }
  }
}
