import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.*;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kind.*;
import dev.doorbell.experiments.scenario.world.*;

public final class FirstPut extends ExperimentKind<FirstPut.Settings> {
  public record Settings(Point point, int puts, int size, QueueSettings queues) {}

  public FirstPut() {
    super("puts: 1 or more", "MINE-1", Settings.class, "first-put");
  }

  @Override
  public boolean applies(Point point) {
    return point.has("puts") && point.whole("puts") > 0;
  }

  @Override
  protected void check(Settings of, Checks checks) {
    checks.refuseIf(
        of.size() % 8 != 0, "puts of %d bytes".formatted(of.size()), "use multiples of 8");
  }

  @Override
  protected long estimateNanos(Settings of) {
    return of.puts() * 50_000_000L;
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    Settings of = run.settings();
    long second = 1_000_000_000;
    long[] nanos = new long[of.puts()];
    for (int i = 0; i < nanos.length; i++) {
      try (World world = run.world().mtu(of.queues().mtu()).open();
          Connection connection =
              Connection.open(
                  world, of.queues().endpoint(second).build(), Connection.Ringing.GPU, 1);
          RankBuffers from = new RankBuffers(connection, world.rank(0), of.size(), i);
          RankBuffers to = new RankBuffers(connection, world.rank(1), of.size(), -i)) {
        JobView job = new JobView();
        job.path = JobView.PATH_PULL;
        var launch = from.launch("post_once", job, to, 1, 1, second);
        world.fabric().run(launch::done, second);
        if (to.mismatch(from) instanceof String wrong) {
          throw run.mismatch(wrong);
        }
        run.verified(of.size());
        nanos[i] = from.ended() - from.started();
      }
    }
    run.add(Samples.of("first-put", "ns", nanos));
  }
}
